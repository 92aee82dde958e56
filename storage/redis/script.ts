/** A script of the server. */
export interface Script {
  readonly name: string
  /** Number of keys that come before its arguments; null if it varies. */
  readonly keys: number | null
  readonly lua: string
}

/** Runs a script in one round trip. Rejects at once while the server is unreachable. */
export type RunScript = (keys: readonly string[], args: readonly (string | number)[]) => Promise<unknown>
