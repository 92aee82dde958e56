import { setFlagsFromString } from 'node:v8'

/**
 * Sets a V8 flag in the running process, unless one of the operator's Node flags matches. Returns whether it was set.
 */
export function setFlagUnless(given: RegExp, flag: string, nodeFlags: readonly string[]): boolean {
  if (nodeFlags.some((each) => given.test(each))) return false
  setFlagsFromString(flag)
  return true
}
