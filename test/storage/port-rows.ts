import { pubkeyMapKey } from '../../src/chain/pubkey.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { MARKET } from '../../src/market/activity.ts'
import type { LogChannel } from '../../src/market/log.ts'
import type { ActivityOf } from '../../src/market/activity-rows.ts'
import { INTERVALS } from '../../src/market/rows.ts'
import type { BlockCommit, Storage } from '../../storage/port.ts'
import { logChannelCodes } from '../../storage/codec/codes.ts'
import { ALL } from '../../storage/test/under-test.ts'

const EVER = { from: 0, to: 2 ** 32 - 1, limit: 10_000 }

/** Returns all content of a store about the addresses, slots and times that some blocks name, by question. */
export async function portRows(
  storage: Storage,
  commits: readonly BlockCommit[]
): Promise<ReadonlyMap<string, unknown>> {
  const answers = new Map<string, unknown>()
  const all = <T>(of: (commit: BlockCommit) => readonly T[]): T[] => commits.flatMap(of)
  const mints = distinct([
    ...all(({ trades }) => trades.map(({ mint }) => mint)),
    ...all(({ tokens }) => tokens.map(({ mint }) => mint)),
    ...all(({ launches }) => launches.map(({ mint }) => mint))
  ])
  const pools = distinct(all((commit) => [...commit.pools, ...commit.poolEvents].map(({ pool }) => pool)))
  const wallets = distinct(all(({ trades }) => trades.map(({ user }) => user)))
  const pairs = new Map(
    all(({ pairs }) => pairs).map((pair) => [pubkeyMapKey(pair.mint) + pubkeyMapKey(pair.cash), pair])
  )
  const ask = async (question: string, answer: Promise<unknown>): Promise<void> =>
    void answers.set(question, await answer)
  const activity = (of: ActivityOf, owner: Pubkey): Promise<void> =>
    ask(`activity of ${of} ${hex(owner)}`, storage.activity.range(of, owner, EVER))

  await ask('head', storage.blocks.head())
  await ask('totals', storage.totals.get())
  await ask('gaps', storage.coverage.gaps({ after: null, limit: 1_000 }))
  await activity('market', MARKET)
  for (const { slot, blockTime } of all(({ slot }) => [slot])) {
    await ask(`slot ${slot}`, storage.blocks.at(slot))
    await ask(`first since ${blockTime}`, storage.blocks.firstSince(blockTime))
    await ask(`price ${blockTime}`, storage.solPrices.atOrBefore(blockTime))
  }
  for (const hour of new Set(all(({ activity }) => activity.map(({ hour }) => hour))))
    await ask(`hourly volumes of ${hour}`, storage.activity.mintsOfHour(hour, { limit: 10_000 }))
  for (const status of [undefined, 'created', 'trading', 'graduated'] as const)
    await ask(
      `launches ${status}`,
      storage.launches.page({ order: 'asc', limit: 10_000, ...(status !== undefined && { status }) })
    )
  for (const mint of mints) {
    await ask(`trades of ${hex(mint)}`, storage.trades.ofMint(mint, ALL))
    await ask(`newest trades of ${hex(mint)}`, storage.trades.ofMint(mint, { order: 'desc', limit: 7 }))
    await ask(`token ${hex(mint)}`, storage.tokens.get(mint))
    await ask(`launch ${hex(mint)}`, storage.launches.get(mint))
    await ask(`curve ${hex(mint)}`, storage.curves.get(mint))
    await ask(`pools of ${hex(mint)}`, storage.pools.ofMint(mint, { order: 'asc', limit: 10_000 }))
    await activity('mint', mint)
  }
  for (const { mint, cash } of pairs.values()) {
    await ask(`pair ${hex(mint)} ${hex(cash)}`, storage.pairs.get({ mint, cash }))
    for (const interval of INTERVALS)
      await ask(
        `candles ${hex(mint)} ${hex(cash)} ${interval}`,
        storage.candles.range(mint, cash, interval, EVER)
      )
  }
  for (const pool of pools) {
    await ask(`pool ${hex(pool)}`, storage.pools.get(pool))
    await ask(`events of ${hex(pool)}`, storage.poolEvents.ofPool(pool, ALL))
    await activity('pool', pool)
  }
  for (const channel of logChannelCodes.words) await ask(`log of ${channel}`, sentOn(storage, channel))
  for (const wallet of wallets) await ask(`trades by ${hex(wallet)}`, storage.trades.ofWallet(wallet, ALL))
  return answers
}

/**
 * Returns every event of a channel as text: bytes that a writer remembers have another class than those that it has read.
 */
async function sentOn(storage: Storage, channel: LogChannel): Promise<string[]> {
  const entries = await storage.log.read(channel, { limit: 10_000 })
  return entries.flatMap(({ slot, events }) =>
    events.map(({ cursor, body }) => `${slot} ${Buffer.from(body).toString('utf8')}${cursor}}`)
  )
}

const distinct = (addresses: readonly Pubkey[]): Pubkey[] => [
  ...new Map(addresses.map((address) => [pubkeyMapKey(address), address])).values()
]
const hex = (address: Pubkey): string => Buffer.from(address).toString('hex')
