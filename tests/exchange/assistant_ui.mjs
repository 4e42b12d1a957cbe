// The real packages of assistant-ui, unchanged. Takes as JSON what goes in, says as JSON what they make of it: a repository's branch, head,
// picker and export; a thread that they build themselves; and rows in which the adapter of the AI SDK stores messages.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.env.FOLDER}/`);
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { ExportedMessageRepository, MessageRepository } = await load("@assistant-ui/core/internal");
const { aiSDKV6FormatAdapter } = await load("assistant-cloud/ai-sdk");

const revived = (key, value) => (key === "createdAt" ? new Date(value) : value);
const { repository: given, like, ui } = JSON.parse(readFileSync(0, "utf8"), revived);
const said = {};

if (given) {
  const repository = new MessageRepository();
  repository.import(given);
  const path = () => repository.getMessages().map(({ id }) => id);
  said.path = path();
  said.head = repository.headId;
  said.picker = Object.fromEntries(given.messages.map(({ message: { id } }) => [id, repository.getBranches(id)]));
  said.exported = repository.export();
  // Whoever picks another branch sees it to its end, and comes back.
  said.others = {};
  for (const id of said.path) {
    for (const other of repository.getBranches(id).filter((each) => each !== id)) {
      repository.switchToBranch(other);
      said.others[other] = path();
      repository.switchToBranch(id);
    }
  }
  said.again = path();
}

if (like) {
  const repository = new MessageRepository();
  repository.import(ExportedMessageRepository.fromBranchableArray(like.messages, { headId: like.headId }));
  said.built = repository.export();
}

if (ui) {
  const adapter = aiSDKV6FormatAdapter;
  said.rows = ui.map(({ parentId, message }) => ({
    id: adapter.getId(message),
    parent_id: parentId,
    format: adapter.format,
    content: adapter.encode({ parentId, message }),
  }));
  said.decoded = said.rows.map((row) => adapter.decode(row));
}

console.log(JSON.stringify(said));
