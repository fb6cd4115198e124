// What a hand-over's script imports. The connection is made here, before the script is loaded; then the right to make
// one is given back (entry.js).

const { parse, stringify } = JSON;
const MOST = 8 * 1024 * 1024;
const LINE_END = 10;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });
const path = decodeURIComponent(new URL("./socket", import.meta.url).pathname);
const connection = await Deno.connect({ transport: "unix", path });

const waiting = new Map();
let last = 0;
let sending = Promise.resolve();
let lost = null;

/** A call that failed. `code` and `details` say why, for a script that can do something about it. */
export class ToolCallError extends Error {
  constructor({ code, message, details }) {
    super(message);
    this.name = "ToolCallError";
    this.code = code;
    this.details = details;
  }
}

/**
 * Calls an operation of the tool that the script was handed to.
 * Resolves to its structured result, or else to its text; rejects with a ToolCallError.
 */
export function callMCPTool(tool, operation, args = {}) {
  return new Promise((resolve, reject) => {
    if (typeof tool !== "string" || typeof operation !== "string") {
      throw new TypeError("callMCPTool(tool, operation, arguments): tool and operation are strings");
    }
    if (args === null || typeof args !== "object" || Array.isArray(args)) {
      throw new TypeError("callMCPTool(tool, operation, arguments): arguments is an object");
    }
    if (lost !== null) throw lost;
    const id = ++last;
    const line = encoder.encode(`${stringify({ id, tool, operation, arguments: args })}\n`);
    if (line.length > MOST) throw new RangeError(`the arguments of ${tool}.${operation} are too large`);
    waiting.set(id, { resolve, reject });
    sending = sending.then(() => send(line)).catch(lose);
    if (waiting.size === 1) listen().catch(lose);
  });
}

async function send(line) {
  for (let start = 0; start < line.length; ) start += await connection.write(line.subarray(start));
}

function lose(error) {
  lost = new Error(`the run-time does not answer any more (${error})`);
  for (const { reject } of waiting.values()) reject(lost);
  waiting.clear();
}

function answer({ id, ok, result, error }) {
  const call = waiting.get(id);
  if (call === undefined) return;
  waiting.delete(id);
  if (ok) call.resolve(result);
  else call.reject(new ToolCallError(error));
}

// Only while there is something to wait for: a script has ended when it has nothing more to do.
async function listen() {
  const chunk = new Uint8Array(65536);
  let parts = [];
  while (waiting.size > 0) {
    const count = await connection.read(chunk);
    if (count === null) throw new Error("closed");
    let start = 0;
    for (let end; (end = chunk.subarray(0, count).indexOf(LINE_END, start)) >= 0; start = end + 1) {
      parts.push(chunk.slice(start, end));
      answer(parse(decoder.decode(joined(parts))));
      parts = [];
    }
    parts.push(chunk.slice(start, count));
  }
}

function joined(parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let start = 0;
  for (const part of parts) {
    whole.set(part, start);
    start += part.length;
  }
  return whole;
}
