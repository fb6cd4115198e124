// Reads {modules, objects} from standard input and writes what the operators' own types find wrong, as JSON.
// An apiVersion or kind that no module has ends it with an error.
import { readFileSync } from "node:fs";

const { modules, objects } = JSON.parse(readFileSync(0, "utf8"));
const wrong = [];
for (const found of objects) {
  const model = (await import(`${modules[found.apiVersion]}/${found.kind}`))[found.kind];
  try {
    new model(found).validate();
  } catch (error) {
    wrong.push(`${found.kind}/${found.metadata.name}: ${error.message}`);
  }
}
process.stdout.write(JSON.stringify(wrong));
