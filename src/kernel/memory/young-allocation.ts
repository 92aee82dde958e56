import { setFlagUnless } from './node-flags.ts'

/**
 * Makes V8 allocate every object in the young generation, unless the operator's Node flags set this. To be called once the
 * service listens: the cache of compiled code on disk is valid only for the flags that it was compiled with.
 *
 * By default V8 notes which places of the code allocate objects that outlive collections, and then allocates theirs in the old
 * generation. Pages in flight at a busy start count as such, and their garbage is then left to collections of the whole heap:
 * beside a store of 10 million trades, a page of 100 trades took 970 µs of CPU time instead of 590, with a p99 of 52 ms instead of
 * 19. Ingest has a twentieth more throughput without.
 */
export function allocateYoung(nodeFlags: readonly string[] = process.execArgv): boolean {
  return setFlagUnless(
    /^--(no[-_])?allocation[-_]site[-_]pretenuring\b/,
    '--no-allocation-site-pretenuring',
    nodeFlags
  )
}
