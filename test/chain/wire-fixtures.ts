import { fixtureTransactions, type FixtureEntry } from '../fixtures.ts'
import { isCompiled, reencode } from './rpc/reencode.ts'

/** Returns the transactions of the catalogue whose bytes can be written from their JSON. */
export function wireFixtures(): { entry: FixtureEntry; bytes: Uint8Array }[] {
  return fixtureTransactions().flatMap(({ entry, result }) => {
    if (!isCompiled(result)) return []
    const { transaction } = reencode(result, 'base64') as { transaction: [string, string] }
    return [{ entry, bytes: fromBase64(transaction[0]) }]
  })
}

export function fromBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'))
}
