import { setFlagUnless } from './node-flags.ts'

/**
 * Calls of a function before V8 compiles it with its last compiler, in another thread; V8's default is 3,000. Such a
 * compilation takes 9 ms and saves tenths of a microsecond per call, so 3,000 calls never pay for it. An idle service
 * reaches 3,000 calls within minutes with a thousand functions, which costs half a percent of a core for that time. A
 * service under load reaches 30,000 within seconds.
 */
const CALLS = 30_000

/**
 * Makes V8 use its last compiler later, unless the operator's Node flags set this. To be called before the service's
 * modules are loaded: the cache of compiled code on disk is valid only for the flags that it was compiled with.
 */
export function compileLate(nodeFlags: readonly string[] = process.execArgv): boolean {
  return setFlagUnless(
    /^--(invocation[-_]count[-_]for[-_]turbofan|max[-_]opt|no[-_]opt)\b/,
    `--invocation-count-for-turbofan=${CALLS}`,
    nodeFlags
  )
}
