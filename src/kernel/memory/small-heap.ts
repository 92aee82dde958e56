import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { setFlagUnless } from './node-flags.ts'

/**
 * Percent by which V8's heap may grow over the live objects before a collection; V8's default is up to three times as
 * much. On a store of 10 million trades, REST takes 50 MB less with 75 than with 100, and 10 % more CPU time for a price.
 * Ingest at full speed has as much throughput, and with 100 a tenth more than with the default.
 */
const GROWTH_PERCENT = 75

/**
 * The same where memory is tight. With this value a localnet's first start takes 375 MB instead of 600, and a twentieth more CPU
 * time until its past is indexed. Ingest at full speed would lose a third of its throughput. An idle service takes 12 MB more
 * and 3 % less CPU time with 50, and a tenth more CPU time with 30. While the old generation is collected often, the heap gets
 * `GROWTH_PERCENT`: beside lists of holders of all mints that one tenant reads in a loop, the p99 of another tenant's small pages is
 * 42 ms instead of 98, and the process takes 33 MB more.
 */
const TIGHT_GROWTH_PERCENT = 40

/**
 * Factor by which the young generation grows. With 1 it keeps its current size: 1 to 4 MB when the configuration is
 * read. It would reach 16 MB while the service's modules are loaded.
 */
const YOUNG_GROWTH_FACTOR = 1
/** The same while the old generation is collected often: V8's default. */
const LOADED_YOUNG_GROWTH_FACTOR = 2

/**
 * Bytes of the young generation of an idle service. The objects of one slot have to die in it. With 1 MB every slot
 * takes two collections. Objects that survive two, such as a block in flight, then become garbage of the old
 * generation, where a collection takes a quarter of a second. With 8 MB an idle localnet takes 10 MB more, and no
 * less CPU time.
 */
const YOUNG_BYTES = 4 * 2 ** 20
/** Interval of checking the size, in milliseconds. An idle service takes ten seconds to grow it once more. */
const POLL_INTERVAL_MS = 100

const GROWTH_FLAG = /^--heap[-_]growing[-_]percent\b/
const YOUNG_FLAGS = /^--(min|max)[-_]semi[-_]space[-_]size\b|^--semi[-_]space[-_]growth[-_]factor\b/

/**
 * Makes the young generation keep its size, for less memory and more collections, unless the operator's Node flags
 * set its maximum. To be called before the service's modules are loaded.
 */
export function keepYoungHeapSmall(nodeFlags: readonly string[] = process.execArgv): boolean {
  return setFlagUnless(YOUNG_FLAGS, growthBy(YOUNG_GROWTH_FACTOR), nodeFlags)
}

/**
 * Makes the young generation grow once, to the size for an idle service, unless the operator's Node flags set its
 * maximum. To be called once the work of the start is done. Returns a function that stops the check.
 */
export function growYoungHeapOnce(): () => void {
  const before = youngBytes()
  const factor = Math.round(YOUNG_BYTES / before)
  if (factor <= 1 || !setFlagUnless(YOUNG_FLAGS, growthBy(factor), process.execArgv)) return () => undefined
  const timer = setInterval(() => {
    if (youngBytes() === before) return
    setFlagsFromString(growthBy(YOUNG_GROWTH_FACTOR))
    clearInterval(timer)
  }, POLL_INTERVAL_MS).unref()
  return () => clearInterval(timer)
}

/** Bytes of objects that the young generation has room for. */
function youngBytes(): number {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')!
  return young.space_used_size + young.space_available_size
}

const growthBy = (factor: number): string => `--semi-space-growth-factor=${factor}`

/**
 * Makes garbage collections start earlier, and earlier still where memory is tight, unless the operator's Node flags set this.
 * To be called once the service listens: during a start, collections take half a second of CPU time and free little.
 */
export function slowHeapGrowth(isTight: boolean, nodeFlags: readonly string[] = process.execArgv): boolean {
  const percent = isTight ? TIGHT_GROWTH_PERCENT : GROWTH_PERCENT
  return setFlagUnless(GROWTH_FLAG, `--heap-growing-percent=${percent}`, nodeFlags)
}

/**
 * Lets the heap grow further between collections, and the young generation up to V8's maximum of 16 MB, or keeps both small
 * again, unless the operator's Node flags set them. A young generation that has grown stays: V8 shrinks it if the service
 * is idle.
 */
export function giveHeapRoom(isLoaded: boolean, nodeFlags: readonly string[] = process.execArgv): void {
  slowHeapGrowth(!isLoaded, nodeFlags)
  setFlagUnless(YOUNG_FLAGS, growthBy(isLoaded ? LOADED_YOUNG_GROWTH_FACTOR : YOUNG_GROWTH_FACTOR), nodeFlags)
}
