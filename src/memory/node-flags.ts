import { setFlagsFromString } from 'node:v8'

/** Sets a flag of V8 in the running process, unless one of the operator's flags of Node matches. Returns whether it did. */
export function setFlagUnless(given: RegExp, flag: string, nodeFlags: readonly string[]): boolean {
  if (nodeFlags.some((each) => given.test(each))) return false
  setFlagsFromString(flag)
  return true
}
