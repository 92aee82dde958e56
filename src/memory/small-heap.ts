import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { setFlagUnless } from './node-flags.ts'

/**
 * Percent by which V8's heap grows over what is live before garbage is collected; by itself up to three times as much.
 * A localnet's first start takes 375 MB instead of 600 with it, and a twentieth more processor time until its past is
 * indexed. Ingest at full speed would lose a third. Chosen: with 30 a service at rest holds some 15 MB less, and takes a
 * tenth more of the processor.
 */
const GROWTH_PERCENT = 50

/**
 * Factor by which the young generation grows. With 1 it keeps the size that it has: 1 to 4 MB where the configuration is
 * read, instead of the 16 that it would reach while the service's modules are loaded.
 */
const YOUNG_GROWTH_FACTOR = 1

/**
 * Bytes of the young generation of a service at rest. What a slot makes has to die in it: with 1 MB every slot takes two
 * collections, and what lives through two, such as a block on its way, is garbage of the old generation then, where a
 * collection takes a quarter of a second. 16 MB would spare little more.
 */
const YOUNG_BYTES = 8 * 2 ** 20
/** Milliseconds between two looks whether it has that size. At rest it takes ten seconds to grow once more. */
const LOOK_MS = 100

const YOUNG_FLAGS = /^--(min|max)[-_]semi[-_]space[-_]size\b|^--semi[-_]space[-_]growth[-_]factor\b/

/**
 * Has the young generation keep its size, for less memory and more collections, unless the operator's flags of Node say how
 * large it may be. To be called before the service's modules are loaded.
 */
export function keepYoungHeapSmall(nodeFlags: readonly string[] = process.execArgv): boolean {
  return setFlagUnless(YOUNG_FLAGS, growthBy(YOUNG_GROWTH_FACTOR), nodeFlags)
}

/**
 * Has the young generation grow once, to the size for a service at rest, unless the operator's flags say how large it may be.
 * To be called once the work of the start is done. Returns a function that ends the wait for it.
 */
export function growYoungHeapOnce(nodeFlags: readonly string[] = process.execArgv): () => void {
  const before = youngBytes()
  const factor = Math.round(YOUNG_BYTES / before)
  if (factor <= 1 || !setFlagUnless(YOUNG_FLAGS, growthBy(factor), nodeFlags)) return () => undefined
  const timer = setInterval(() => {
    if (youngBytes() === before) return
    setFlagsFromString(growthBy(YOUNG_GROWTH_FACTOR))
    clearInterval(timer)
  }, LOOK_MS).unref()
  return () => clearInterval(timer)
}

/** Bytes that the young generation takes objects for. */
function youngBytes(): number {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')!
  return young.space_used_size + young.space_available_size
}

const growthBy = (factor: number): string => `--semi-space-growth-factor=${factor}`

/**
 * Has garbage collected earlier, for less memory and more work, unless the operator's flags of Node say how early. To be
 * called once the service listens: a start's collections take half a second of the processor, and free little.
 */
export function slowHeapGrowth(nodeFlags: readonly string[] = process.execArgv): boolean {
  return setFlagUnless(
    /^--heap[-_]growing[-_]percent\b/,
    `--heap-growing-percent=${GROWTH_PERCENT}`,
    nodeFlags
  )
}
