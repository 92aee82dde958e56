import type { Test } from 'tap'

/**
 * Makes a directory for a test that is removed after all teardowns, including later ones. A `testdir` of node-tap is removed
 * before later teardowns, while a service that they end still writes to it.
 */
export function ownDirectory(t: Test): string {
  t.teardown(() => undefined)
  return t.testdir()
}
