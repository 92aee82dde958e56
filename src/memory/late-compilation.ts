import { setFlagUnless } from './node-flags.ts'

/**
 * Calls of a function before V8 compiles it with its last compiler, in another thread; by itself 3,000. Such a compilation
 * takes 9 ms and spares a call tenths of a microsecond, so 3,000 calls never pay for it. A service at rest gets there within
 * minutes with a thousand functions: half a percent of a core for that time. One under load gets to 30,000 within seconds.
 */
const CALLS = 30_000

/**
 * Has V8 compile with its last compiler later, unless the operator's flags of Node say when. To be called before the
 * service's modules are loaded, because compiled code on disk is of the flags that it was compiled with.
 */
export function compileLate(nodeFlags: readonly string[] = process.execArgv): boolean {
  return setFlagUnless(
    /^--(invocation[-_]count[-_]for[-_]turbofan|max[-_]opt|no[-_]opt)\b/,
    `--invocation-count-for-turbofan=${CALLS}`,
    nodeFlags
  )
}
