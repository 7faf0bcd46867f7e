/* index.d.ts - the types of index.js. */

export interface World {
  users?: object[];
  applications?: object[];
  guilds?: object[];
  [part: string]: unknown;
}

export interface StartOptions {
  /** A world, or the path of a world file. */
  world: World | string;
  /** The program; else GUILDHALL_BINARY of the environment, else `guildhall` in the path. */
  binary?: string;
  /** Further options of `guildhall serve`. */
  flags?: string[];
}

export interface Message {
  id: string;
  channel_id: string;
  content: string;
  author: { id: string; username: string; [field: string]: unknown };
  embeds: object[];
  components?: object[];
  [field: string]: unknown;
}

export interface Answer {
  step: string;
  outcome: string;
  /** What the app said. */
  content?: string;
  embeds: object[];
  message?: Message;
  follow_ups?: Message[];
  /** Everything that happened, in order. */
  steps: object[];
}

/** What is wanted of a message; only the given fields are compared. */
export interface WantedMessage {
  /** The exact text, an expression, or a function that accepts it. */
  content?: string | RegExp | ((content: string) => boolean);
  /** The name of the author. */
  author?: string;
  /** Whether only one person sees it. */
  ephemeral?: boolean;
  /** Fields of each embed, in their order. */
  embeds?: object[];
  /** Components that it must have: an id or a label, or some fields. */
  components?: (string | object)[];
  [field: string]: unknown;
}

/** A recorded call or event; docs/console.md describes its fields. */
export interface TrafficRecord {
  number: number;
  kind: string;
  /** The record as a line of text. */
  line: string;
  [field: string]: unknown;
}

export interface PictureOptions {
  /** Who looks; else the first person of the world. */
  as?: string;
  channel?: string;
}

export interface InvokeOptions {
  /** Then press a button of the answer, or choose from a menu: 'yes', 'colour=red,blue'. */
  press?: string;
  /** Fill in the form that comes: 'field:value field:value'. */
  fill?: string;
  /** Wait for so many messages after the answer. */
  followUps?: number;
  /** Whom a user command is about. */
  user?: string;
  /** What a message command is about. */
  message?: string;
  /** Whose command, where several apps have it. */
  app?: string;
  /** Seconds for an app that has asked for more time. */
  wait?: number;
}

export interface Person {
  readonly name: string;
  readonly channel: string;
  slash(line: string, options?: InvokeOptions): Promise<Answer>;
  press(message: Message | string, part: string, options?: InvokeOptions): Promise<Answer>;
  complete(line: string): Promise<object[]>;
  say(content: string | object): Promise<Message>;
  react(message: Message | string, emoji: string): Promise<void>;
  messages(limit?: number): Promise<Message[]>;
  waitForMessage(
    wanted: string | RegExp | WantedMessage | ((message: Message) => boolean),
    options?: { after?: Message | string; timeout?: number },
  ): Promise<Message>;
  channelId(): Promise<string>;
  call(method: string, path: string, body?: unknown): Promise<any>;
}

export interface Guildhall {
  readonly binary: string;
  readonly url: string;
  /** What libraries call the base of the interface. */
  readonly api: string;
  readonly data: string;
  readonly log: string;
  token(name: string): string;
  asUser(name: string, options?: { channel?: string }): Person;
  /** The names of all bots of the world. */
  readonly bots: string[];
  /** Does not throw if the command fails: look at `status`. */
  command(...words: string[]): Promise<{ status: number; stdout: string; stderr: string }>;
  snapshot(name?: string): Promise<unknown>;
  restore(name?: string): Promise<unknown>;
  traffic(options?: { user?: string; limit?: number }): Promise<TrafficRecord[]>;
  record(file: string, bot?: string): Promise<unknown>;
  picture(file: string, options?: PictureOptions): Promise<string>;
  /** Adds the last calls and events of the bots to an error, and saves a transcript. */
  explain(
    error: unknown,
    options?: { folder?: string; name?: string; limit?: number; picture?: boolean | PictureOptions },
  ): Promise<unknown>;
  clock(step: string): Promise<unknown>;
  fault(route: string, options?: { status?: number; times?: number; delay?: string }): Promise<unknown>;
  stop(): Promise<void>;
}

export class GuildhallError extends Error {
  status?: number;
  [detail: string]: unknown;
}

export interface TestOptions extends StartOptions {
  /** Starts the bot; returns a function that stops it. */
  bot?: (hall: Guildhall) => Promise<(() => unknown) | void> | (() => unknown) | void;
  /** Where transcripts of failed tests are saved; else `guildhall-failures`. */
  failures?: string;
  /** Whether a failed test also saves a picture of a channel; needs Chromium. */
  picture?: boolean | PictureOptions;
  /** The name of the test; else the one that the runner tells. */
  name?: string;
}

/** The function of a test with a fresh server of its own, for node:test, Jest and Vitest. */
export function withGuildhall(
  options: TestOptions,
  body: (hall: Guildhall, ...context: any[]) => unknown,
): (...context: any[]) => Promise<void>;
/** All components of a message, also those within others. */
export function componentsOf(message: Message): object[];
export function messageDifferences(message: Message, wanted: WantedMessage): string[];
export function expectMessage<M extends Message | Answer>(message: M, wanted: WantedMessage): M;
export const matchers: {
  toMatchMessage(message: Message | Answer, wanted: WantedMessage): { pass: boolean; message: () => string };
};
export function startGuildhall(options: StartOptions): Promise<Guildhall>;
export function eventually<T>(
  ask: () => T | Promise<T>,
  options?: { timeout?: number; every?: number },
): Promise<NonNullable<T>>;
