// What commonmark.js 0.31.2, a reference implementation, reads in documents. Writes commonmark-js-0.31.2.json anew:
//   npm install commonmark@0.31.2 && node commonmark-js.mjs < commonmark-js-0.31.2.json > new.json
import { readFileSync } from "node:fs";
import { Parser } from "commonmark";

function read(document) {
  const parser = new Parser();
  const continues = parser.blocks.code_block.continue;
  parser.blocks.code_block.continue = (...given) => {
    const result = continues(...given);
    if (result === 2) given[1].closedByFence = true;
    return result;
  };
  parser.processInlines = () => {}; // a heading's text stays as it is written
  const walker = parser.parse(document).walker();
  const blocks = [];
  for (let event = walker.next(), depth = -1; event; event = walker.next()) {
    const { node, entering } = event;
    const [[line, column], [end]] = node.sourcepos;
    if (node.isContainer && !["paragraph", "heading"].includes(node.type)) depth += entering ? 1 : -1;
    if (!entering || node.type === "document") continue;
    if (node.type === "heading") blocks.push({ kind: "heading", depth, level: node.level, text: node._string_content.trim() });
    else if (node.type === "code_block" && node._isFenced)
      blocks.push({ kind: "fence", depth, line, column, end_line: end + 1, closed: !!node.closedByFence, info: node.info, text: node.literal });
    else if (node.isContainer && node.type !== "paragraph") blocks.push({ kind: node.type, depth: depth - 1, line, column });
  }
  return blocks;
}

const documents = JSON.parse(readFileSync(0, "utf8")).map(({ document }) => ({ document, blocks: read(document) }));
process.stdout.write("[\n" + documents.map((entry) => JSON.stringify(entry)).join(",\n") + "\n]\n");
