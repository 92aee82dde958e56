/**
 * Measures the index of mirrored accounts on one CQL node on this machine. First, writes of token accounts with the entries
 * of two indexes. Second, pages by a memcmp filter that uses an index, compared with a scan that finds the same accounts.
 * Takes a minute or two:
 *
 *     node loadtest/scylla-accounts.ts [accounts]
 */
import { loadavg } from 'node:os'
import type { AccountsQuery, DataMatcher } from '../storage/port.ts'
import { writeResult } from './result.ts'
import { startCql, timed } from './scylla-server.ts'
import {
  accountMint,
  accountOf,
  accountOwner,
  ACCOUNTS_OF_MINT,
  ACCOUNTS_OF_OWNER,
  MINT,
  OWNER,
  PROGRAM,
  SLOT
} from './token-accounts.ts'

const accounts = Number(process.argv[2] ?? 50_000)
const VERSIONS_A_WRITE = 1_000
const ROUNDS = { index: 30, scan: 3 }

const cql = await startCql()
try {
  const { programAccounts: store } = cql.storage
  const write = await timed(cql, async () => {
    for (let from = 0; from < accounts; from += VERSIONS_A_WRITE)
      await store.put(
        PROGRAM,
        Array.from({ length: VERSIONS_A_WRITE }, (_, i) => accountOf(from + i)),
        [MINT, OWNER]
      )
  })
  const read = async (filter: Pick<AccountsQuery, 'matches' | 'lookups'>): Promise<number> => {
    let rows = 0
    const all = { slot: SLOT, limit: Infinity, examined: Infinity }
    for await (const { accounts } of store.pages(PROGRAM, { ...all, ...filter })) rows += accounts.length
    return rows
  }
  const compare = async (range: typeof MINT, value: Uint8Array, found: number) => {
    const bytes = Buffer.from(value)
    const matches: DataMatcher = (data, from) =>
      bytes.equals(data.subarray(from + range.offset, from + range.offset + range.length))
    const times = { index: [] as number[], scan: [] as number[] }
    for (const way of ['scan', 'index'] as const)
      for (let round = 0; round < ROUNDS[way]; round++) {
        const began = performance.now()
        const rows = await read(way === 'scan' ? { matches } : { matches, lookups: [{ ...range, value }] })
        if (rows !== found) throw new Error(`${rows} accounts in place of ${found}`)
        times[way].push(performance.now() - began)
      }
    const [index, scan] = [median(times.index), median(times.scan)]
    return { found, index_p50_ms: index, scan_p50_ms: scan, ratio: scan / index }
  }
  await writeResult('scylla-accounts', {
    load_of_the_machine: loadavg()[0],
    accounts,
    write: { seconds: write.ms / 1_000, accounts_per_second: accounts / (write.ms / 1_000), ...write },
    accounts_of_an_owner: await compare(OWNER, accountOwner(471), ACCOUNTS_OF_OWNER),
    accounts_of_a_mint: await compare(MINT, accountMint(0), ACCOUNTS_OF_MINT)
  })
} finally {
  await cql.end()
}

function median(list: readonly number[]): number {
  return list.toSorted((a, b) => a - b)[list.length >> 1]!
}
