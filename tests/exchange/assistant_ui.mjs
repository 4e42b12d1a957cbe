// The real packages of assistant-ui, unchanged: takes a repository as JSON, gives it back as they do, and as their adapter stores it.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.env.FOLDER}/`);
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { MessageRepository } = await load("@assistant-ui/core/internal");

const revived = (key, value) => (key === "createdAt" ? new Date(value) : value);
const given = JSON.parse(readFileSync(0, "utf8"), revived);
const repository = new MessageRepository();
repository.import(given);

const path = () => repository.getMessages().map(({ id }) => id);
const said = { path: path(), head: repository.headId, branches: {}, others: {} };
for (const { message } of given.messages) said.branches[message.id] = repository.getBranches(message.id);
said.exported = repository.export();
// Whoever picks another branch comes to its leaf, and back.
for (const id of said.path) {
  for (const other of repository.getBranches(id).filter((each) => each !== id)) {
    repository.switchToBranch(other);
    said.others[other] = path();
    repository.switchToBranch(id);
  }
}
console.log(JSON.stringify(said));
