import type { CoverageStore, RowHorizon } from '../port.ts'
import type { CqlClient } from './client.ts'
import { readSettled, type ConditionalWrites } from './conditional-writes.ts'
import { isOutage, refused, unanswered } from './errors.ts'
import type { Gaps } from './gaps.ts'

const CHAIN = 'solana'
const SELECT_GENESIS = 'SELECT DISTINCT chain, genesis FROM coverage WHERE chain = ?'
const SET_GENESIS = 'UPDATE coverage SET genesis = ? WHERE chain = ? IF genesis = null'
/** Maximum attempts to set the genesis after a try turned out to have had no effect. */
const TRIES = 3

export function coverageStore(
  client: CqlClient,
  gaps: Gaps,
  writes: ConditionalWrites,
  horizon: () => Promise<RowHorizon | null>
): CoverageStore {
  return {
    horizon,
    async genesis() {
      const [row] = await client.read(SELECT_GENESIS, [CHAIN])
      return (row?.['genesis'] as string | null | undefined) ?? null
    },
    settleGenesis: (hash) => writes.run('coverage', () => settleGenesis(client, hash)),
    addGap: (gap) => gaps.add(gap),
    gaps: (page) => gaps.page(page)
  }
}

/** The first writer wins; all others read its value. */
async function settleGenesis(client: CqlClient, hash: string): Promise<string> {
  const statement = { statement: SET_GENESIS, params: [hash, CHAIN] }
  for (let tries = 1; ; tries++)
    try {
      const { applied, row } = await client.conditional([statement])
      return applied ? hash : (row['genesis'] as string)
    } catch (error) {
      if (!isOutage(error)) throw refused(error)
      const [row] = await readSettled(client, { statement: SELECT_GENESIS, params: [CHAIN] })
      const found = (row?.['genesis'] as string | null | undefined) ?? null
      if (found !== null) return found
      if (tries === TRIES) throw unanswered(error)
    }
}
