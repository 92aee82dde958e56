/** A script of the server, with the number of keys that come before its arguments. */
export interface Script {
  readonly name: string
  readonly keys: number
  readonly lua: string
}

/** Runs a script in one round trip. Rejects at once while the server is unreachable. */
export type RunScript = (keys: readonly string[], args: readonly (string | number)[]) => Promise<unknown>
