// The AWS SDK for JavaScript, version 3, against the endpoint in the first argument.
const assert = require("node:assert/strict");
const {
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  TransactWriteItemsCommand,
  waitUntilTableExists,
} = require("@aws-sdk/client-dynamodb");
const {
  BatchWriteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  UpdateCommand,
  paginateQuery,
} = require("@aws-sdk/lib-dynamodb");

const endpoint = process.argv[2];
const TableName = "SdkThings";

async function main() {
  const client = new DynamoDBClient({ endpoint });
  const documents = DynamoDBDocumentClient.from(client);
  await client.send(
    new CreateTableCommand({
      TableName,
      AttributeDefinitions: [
        { AttributeName: "pk", AttributeType: "S" },
        { AttributeName: "sk", AttributeType: "S" },
      ],
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
      BillingMode: "PAY_PER_REQUEST",
    }),
  );
  await waitUntilTableExists({ client, minDelay: 1, maxWaitTime: 20 }, { TableName });

  const item = {
    pk: "é✓",
    sk: "a",
    bytes: new Uint8Array([0, 255]),
    set: new Set(["x"]),
    list: [1, { deep: true }],
    none: null,
  };
  await documents.send(new PutCommand({ TableName, Item: item }));
  const read = await documents.send(new GetCommand({ TableName, Key: { pk: "é✓", sk: "a" } }));
  assert.deepEqual(read.Item, item);

  const puts = Array.from({ length: 25 }, (_, n) => ({
    PutRequest: { Item: { pk: "many", sk: String(n).padStart(3, "0") } },
  }));
  await documents.send(new BatchWriteCommand({ RequestItems: { [TableName]: puts } }));
  let found = 0;
  const pages = paginateQuery(
    { client: documents, pageSize: 10 },
    {
      TableName,
      KeyConditionExpression: "pk = :p",
      ExpressionAttributeValues: { ":p": "many" },
    },
  );
  for await (const page of pages) found += page.Items.length;
  assert.equal(found, 25);

  await assert.rejects(
    documents.send(
      new UpdateCommand({
        TableName,
        Key: { pk: "é✓", sk: "a" },
        UpdateExpression: "SET seen = :yes",
        ConditionExpression: "attribute_exists(nothing)",
        ExpressionAttributeValues: { ":yes": true },
      }),
    ),
    { name: "ConditionalCheckFailedException" },
  );
  await assert.rejects(
    client.send(
      new TransactWriteItemsCommand({
        TransactItems: [
          { Put: { TableName, Item: { pk: { S: "t" }, sk: { S: "1" } } } },
          {
            ConditionCheck: {
              TableName,
              Key: { pk: { S: "t" }, sk: { S: "2" } },
              ConditionExpression: "attribute_exists(pk)",
            },
          },
        ],
      }),
    ),
    (error) => {
      const codes = error.CancellationReasons.map((reason) => reason.Code);
      assert.deepEqual(codes, ["None", "ConditionalCheckFailed"]);
      return error.name === "TransactionCanceledException";
    },
  );

  await client.send(new DeleteTableCommand({ TableName }));
  console.log("done");
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
