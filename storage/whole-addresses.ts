import { samePubkey } from '../src/chain/pubkey.ts'
import type { AccountVersion } from './port/program-accounts.ts'

/** Reads stored versions, which ascend by address, in groups of which no two have versions of one address. */
export async function* byWholeAddress<Record>(
  groups: AsyncIterable<readonly Record[]>,
  read: (record: Record) => AccountVersion
): AsyncGenerator<readonly AccountVersion[]> {
  /** Versions of the last address, of which the next group may have more. */
  let carried: AccountVersion[] = []
  for await (const records of groups) {
    if (records.length === 0) continue
    const whole = [...carried, ...records.map(read)]
    const { address } = whole.at(-1)!
    carried = whole.splice(whole.findIndex((each) => samePubkey(each.address, address)))
    if (whole.length > 0) yield whole
  }
  if (carried.length > 0) yield carried
}
