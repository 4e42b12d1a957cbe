// The official clients for node, unchanged, at every door: says as JSON what each of them made of it.
import { createRequire } from "node:module";

const { FOLDER, URL_OF_HOUSE, KEY, WEATHER, PERSON, SLOW } = process.env;
const require = createRequire(`${FOLDER}/`);
const OpenAI = require("openai");
const Anthropic = require("@anthropic-ai/sdk");
const { z } = require("zod");
const { zodTextFormat, zodResponseFormat } = require("openai/helpers/zod");
const { betaTool } = require("@anthropic-ai/sdk/helpers/beta/json-schema");

const openai = new OpenAI({ baseURL: `${URL_OF_HOUSE}v1`, apiKey: KEY, maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: URL_OF_HOUSE.replace(/\/$/, ""), apiKey: KEY, maxRetries: 0 });
const Person = z.object({ name: z.string(), age: z.number(), tags: z.array(z.string()) });
const schema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const described = { name: "get_weather", description: "The weather in a city." };
const question = [{ role: "user", content: "Where is it warm?" }];
const sunny = ({ city }) => `sunny in ${city}`;

const checks = {
  async "chat completions run tools"() {
    const runner = openai.chat.completions.runTools({
      model: WEATHER,
      messages: question,
      stream: true,
      tools: [{ type: "function", function: { ...described, parameters: schema, parse: JSON.parse, function: sunny } }],
    });
    return await runner.finalContent();
  },
  async "chat completions are parsed"() {
    const format = zodResponseFormat(Person, "person");
    const answer = await openai.chat.completions.parse({ model: PERSON, messages: question, response_format: format });
    return answer.choices[0].message.parsed;
  },
  async "responses with tools"() {
    const tools = [{ type: "function", ...described, parameters: schema, strict: true }];
    const first = await openai.responses.stream({ model: WEATHER, input: question, tools }).finalResponse();
    const calls = first.output.filter((item) => item.type === "function_call");
    const results = calls.map((call) => ({
      type: "function_call_output",
      call_id: call.call_id,
      output: sunny(JSON.parse(call.arguments)),
    }));
    const input = [...question, ...calls, ...results];
    const second = await openai.responses.create({ model: WEATHER, input, tools });
    return second.output_text;
  },
  async "responses are parsed"() {
    const text = { format: zodTextFormat(Person, "person") };
    return (await openai.responses.parse({ model: PERSON, input: "Who?", text })).output_parsed;
  },
  async "messages run tools"() {
    const runner = anthropic.beta.messages.toolRunner({
      model: WEATHER,
      max_tokens: 9000,
      messages: question,
      stream: true,
      tools: [betaTool({ ...described, inputSchema: schema, run: sunny })],
    });
    return (await runner.runUntilDone()).content.at(-1).text;
  },
  async "messages in a stream"() {
    const stream = anthropic.messages.stream({ model: PERSON, max_tokens: 9000, messages: question });
    const message = await stream.finalMessage();
    return message.content.map((block) => block.type);
  },
  async "tokens and models"() {
    const { input_tokens } = await anthropic.messages.countTokens({ model: PERSON, messages: question });
    const models = [(await openai.models.list()).data, (await anthropic.models.list()).data];
    return input_tokens > 0 && models.every((list) => list.some((each) => each.id === "demo:thinker"));
  },
  async "errors of their own classes"() {
    const unknown = { model: "no-such-model", messages: question, max_tokens: 1 };
    const wrongs = [
      [openai.chat.completions.create(unknown), OpenAI.NotFoundError],
      [openai.responses.create({ model: PERSON, input: 7 }), OpenAI.BadRequestError],
      [anthropic.messages.create(unknown), Anthropic.NotFoundError],
      [anthropic.withOptions({ apiKey: "tl_wrong" }).messages.create(unknown), Anthropic.AuthenticationError],
    ];
    const caught = wrongs.map(([asked, kind]) => asked.then(() => false, (error) => error instanceof kind));
    return (await Promise.all(caught)).every(Boolean);
  },
  async "who hangs up"() {
    const stream = await openai.chat.completions.create({ model: SLOW, messages: question, stream: true });
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta?.reasoning_content) break;
    }
    return Date.now() / 1000;
  },
};

const said = {};
for (const [name, check] of Object.entries(checks)) {
  said[name] = await check().catch((error) => `${error.constructor.name}: ${error.message}`);
}
console.log(JSON.stringify(said));
