import { setFlagsFromString } from 'node:v8'

/**
 * Percent by which V8's heap grows over what is live before garbage is collected; by itself up to three times as much.
 * A localnet's first start takes 375 MB instead of 600 with it, and a twentieth more processor time until its past is
 * indexed. Ingest at full speed would lose a third.
 */
const GROWTH_PERCENT = 30

/**
 * Factor by which the young generation grows. With 1 it keeps the size that it has: 8 MB where the configuration is read,
 * instead of the 50 that it would reach while the service's modules are loaded.
 */
const YOUNG_GROWTH_FACTOR = 1

/**
 * Has the young generation keep its size, for less memory and more collections, unless the operator's flags of Node say how
 * large it may be. To be called before the service's modules are loaded.
 */
export function keepYoungHeapSmall(nodeFlags: readonly string[] = process.execArgv): boolean {
  return setUnless(
    /^--(min|max)[-_]semi[-_]space[-_]size\b|^--semi[-_]space[-_]growth[-_]factor\b/,
    `--semi-space-growth-factor=${YOUNG_GROWTH_FACTOR}`,
    nodeFlags
  )
}

/**
 * Has garbage collected earlier, for less memory and more work, unless the operator's flags of Node say how early. To be
 * called once the service listens: a start's collections take half a second of the processor, and free little.
 */
export function slowHeapGrowth(nodeFlags: readonly string[] = process.execArgv): boolean {
  return setUnless(/^--heap[-_]growing[-_]percent\b/, `--heap-growing-percent=${GROWTH_PERCENT}`, nodeFlags)
}

function setUnless(given: RegExp, flag: string, nodeFlags: readonly string[]): boolean {
  if (nodeFlags.some((each) => given.test(each))) return false
  setFlagsFromString(flag)
  return true
}
