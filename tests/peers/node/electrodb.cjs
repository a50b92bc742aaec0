// ElectroDB, a single-table library, against the endpoint in the first argument.
const assert = require("node:assert/strict");
const { CreateTableCommand, DeleteTableCommand, DynamoDBClient } = require("@aws-sdk/client-dynamodb");
const { Entity, Service } = require("electrodb");

const client = new DynamoDBClient({ endpoint: process.argv[2] });
const table = "ElectroThings";

const Person = new Entity(
  {
    model: { entity: "person", version: "1", service: "club" },
    attributes: {
      personId: { type: "string" },
      team: { type: "string" },
      name: { type: "string", required: true },
      points: { type: "number", default: 0 },
      tags: { type: "set", items: "string" },
    },
    indexes: {
      byId: { pk: { field: "pk", composite: ["personId"] }, sk: { field: "sk", composite: [] } },
      byTeam: {
        index: "gsi1",
        collection: "team",
        pk: { field: "gsi1pk", composite: ["team"] },
        sk: { field: "gsi1sk", composite: ["name", "personId"] },
      },
    },
  },
  { client, table },
);

const Match = new Entity(
  {
    model: { entity: "match", version: "1", service: "club" },
    attributes: {
      matchId: { type: "string" },
      team: { type: "string", required: true },
      day: { type: "string", required: true },
    },
    indexes: {
      byId: { pk: { field: "pk", composite: ["matchId"] }, sk: { field: "sk", composite: [] } },
      byTeam: {
        index: "gsi1",
        collection: "team",
        pk: { field: "gsi1pk", composite: ["team"] },
        sk: { field: "gsi1sk", composite: ["day"] },
      },
    },
  },
  { client, table },
);

const club = new Service({ person: Person, match: Match }, { client, table });

async function main() {
  const attribute = (AttributeName) => ({ AttributeName, AttributeType: "S" });
  const keys = (hash, range) => [
    { AttributeName: hash, KeyType: "HASH" },
    { AttributeName: range, KeyType: "RANGE" },
  ];
  await client.send(
    new CreateTableCommand({
      TableName: table,
      AttributeDefinitions: ["pk", "sk", "gsi1pk", "gsi1sk"].map(attribute),
      KeySchema: keys("pk", "sk"),
      GlobalSecondaryIndexes: [
        {
          IndexName: "gsi1",
          KeySchema: keys("gsi1pk", "gsi1sk"),
          Projection: { ProjectionType: "ALL" },
        },
      ],
      BillingMode: "PAY_PER_REQUEST",
    }),
  );

  const people = ["ada", "bob", "cleo"].map((name, n) => ({
    personId: `p${n}`,
    team: "red",
    name,
    tags: ["new"],
  }));
  await Person.put(people).go();
  await Match.put({ matchId: "m1", team: "red", day: "2026-01-02" }).go();
  const { data: team } = await club.collections.team({ team: "red" }).go();
  assert.deepEqual(team.person.map((person) => person.name), ["ada", "bob", "cleo"]);
  assert.equal(team.match.length, 1);

  const { data: begins } = await Person.query.byTeam({ team: "red" }).begins({ name: "b" }).go();
  assert.deepEqual(begins.map((person) => person.personId), ["p1"]);

  await Person.patch({ personId: "p1" }).add({ points: 5, tags: ["seen"] }).go();
  const { data: bob } = await Person.get({ personId: "p1" }).go();
  assert.equal(bob.points, 5);
  assert.deepEqual([...bob.tags].sort(), ["new", "seen"]);

  await assert.rejects(Person.create(people[0]).go(), /conditional request failed/);
  const canceled = await club.transaction
    .write(({ person }) => [
      person.create({ personId: "p9", team: "red", name: "zoe" }).commit(),
      person.create(people[0]).commit(),
    ])
    .go();
  assert.equal(canceled.canceled, true);
  assert.deepEqual(canceled.data.map((part) => part.code), ["None", "ConditionalCheckFailed"]);

  const { data: some } = await Person.get([{ personId: "p0" }, { personId: "p9" }]).go();
  assert.deepEqual(some.map((person) => person.name), ["ada"]);
  await client.send(new DeleteTableCommand({ TableName: table }));
  console.log("done");
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
