// An application on ElectroDB: node tasks.cjs URL model | seed | work ROUNDS | read
const { CreateTableCommand, DynamoDBClient } = require("@aws-sdk/client-dynamodb");
const { Entity } = require("electrodb");

const [url, mode, rounds] = process.argv.slice(2);
const client = new DynamoDBClient({ endpoint: url });
const table = "tasks-live";

const Task = new Entity(
  {
    model: { entity: "task", version: "1", service: "TaskApp" },
    attributes: {
      taskId: { type: "string", required: true },
      project: { type: "string", required: true },
      employeeId: { type: "string", required: true, field: "emp" },
      status: { type: ["Open", "Closed"], required: true },
      points: { type: "number", required: true },
      tags: { type: "set", items: "string" },
      note: { type: "string" },
    },
    indexes: {
      task: {
        pk: { field: "pk", composite: ["taskId"] },
        sk: { field: "sk", composite: ["project"] },
      },
      assigned: {
        index: "gsi1",
        collection: "work",
        pk: { field: "gsi1pk", composite: ["employeeId"] },
        sk: { field: "gsi1sk", composite: ["status", "taskId"] },
      },
    },
  },
  { client, table },
);

const Employee = new Entity(
  {
    model: { entity: "employee", version: "1", service: "TaskApp" },
    attributes: {
      employeeId: { type: "string", required: true, field: "emp" },
      name: { type: "string", required: true },
      team: { type: "string", required: true },
    },
    indexes: {
      employee: {
        pk: { field: "pk", composite: ["employeeId"] },
        sk: { field: "sk", composite: [] },
      },
      assigned: {
        index: "gsi1",
        collection: "work",
        pk: { field: "gsi1pk", composite: ["employeeId"] },
        sk: { field: "gsi1sk", composite: ["team"] },
      },
    },
  },
  { client, table },
);

const key = (AttributeName, KeyType) => ({ AttributeName, KeyType });

async function seed() {
  await client.send(
    new CreateTableCommand({
      TableName: table,
      AttributeDefinitions: ["pk", "sk", "gsi1pk", "gsi1sk"].map((AttributeName) => ({
        AttributeName,
        AttributeType: "S",
      })),
      KeySchema: [key("pk", "HASH"), key("sk", "RANGE")],
      GlobalSecondaryIndexes: [
        {
          IndexName: "gsi1",
          KeySchema: [key("gsi1pk", "HASH"), key("gsi1sk", "RANGE")],
          Projection: { ProjectionType: "ALL" },
        },
      ],
      BillingMode: "PAY_PER_REQUEST",
    }),
  );
  const people = Array.from({ length: 5 }, (_, n) => ({
    employeeId: `Emp-${n}`,
    name: `Person ${n}`,
    team: n % 2 ? "Red Team" : "Blue",
  }));
  await Employee.put(people).go();
  const tasks = Array.from({ length: 40 }, (_, n) => ({
    taskId: `T${n}`,
    project: n % 3 ? "Alpha One" : "beta",
    employeeId: `Emp-${n % 5}`,
    status: n % 2 ? "Open" : "Closed",
    points: 0,
    ...(n % 4 ? { tags: ["new", `n${n % 7}`] } : {}),
  }));
  await Task.put(tasks).go();
}

async function work() {
  for (let round = 0; round < Number(rounds); round += 1) {
    await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        Task.patch({ taskId: `T${n}`, project: n % 3 ? "Alpha One" : "beta" })
          .add({ points: 1 })
          .go(),
      ),
    );
    await Task.create({
      taskId: `Node${round}`,
      project: "Gamma",
      employeeId: "Emp-0",
      status: "Open",
      points: 1,
    }).go();
  }
}

async function read() {
  const { data: tasks } = await Task.scan.go({ pages: "all" });
  const { data: mine } = await Task.query.assigned({ employeeId: "Emp-0" }).go({ pages: "all" });
  const plain = (task) => ({ ...task, tags: task.tags && [...task.tags].sort() });
  console.log(JSON.stringify({ tasks: tasks.map(plain), mine: mine.map((task) => task.taskId) }));
}

const modes = {
  model: async () =>
    console.log(JSON.stringify([Task, Employee].map((entity) => entity.schema))),
  seed,
  work,
  read,
};

modes[mode]().catch((error) => {
  console.error(error);
  process.exit(1);
});
