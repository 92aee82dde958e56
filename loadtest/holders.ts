/**
 * Measures two requests against the bare reads of their rows from the store. One is the first page of the holders of a mint
 * with a million holders, the other the holdings of a wallet with 5,000 token accounts. All is in one process, without
 * sockets: the requests go through the whole HTTP side, and the node answers from memory. Rounds of both alternate. Takes
 * about two minutes:
 *
 *     node loadtest/holders.ts [--small] [--holdings] [--help]
 */
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { TOKEN_PROGRAM_KEYS } from '../src/accounts/token-program.ts'
import { pubkeyToBase58 } from '../src/chain/pubkey.ts'
import { ANSWER_MS } from '../src/accounts/routes/account-services.ts'
import { setServingHeap } from '../src/kernel/memory/serving-heap.ts'
import { mintData, tokenAccountData } from '../test/accounts/account-data.ts'
import { block, buy, NOON, solSale } from '../test/market/world.ts'
import { withAccountService, type AccountService } from './account-service.ts'
import { numberedAddress, OWNERS_MS, storeHolderList } from './holder-list.ts'
import { reported, writeResult } from './result.ts'

const HELP = `Usage: node loadtest/holders.ts [--small] [--holdings]

  --small      a hundredth of the holders and a tenth of the accounts, printed and not saved
  --holdings   the holdings alone, printed and not saved
`
const CLASSIC = TOKEN_PROGRAM_KEYS['spl-token']
const PAGE = 100
const MINTS_A_BLOCK = 500
/** Holdings that are priced at a time, as the endpoint does it. */
const PRICES_AT_ONCE = 64
/** Maximum p99, as a multiple of that of the bare reads. */
const BAR = 3

setServingHeap(false)
const { values } = parseArgs({
  options: { small: { type: 'boolean' }, holdings: { type: 'boolean' }, help: { type: 'boolean' } }
})
if (values.help === true) process.stdout.write(HELP)
else await measureAll(values.small === true, values.holdings === true)

async function measureAll(isSmall: boolean, isHoldingsOnly: boolean): Promise<void> {
  await withAccountService('holders', async (service) => {
    const [holders, tokens] = isSmall ? [10_000, 500] : [1_000_000, 5_000]
    const figures = {
      load_average: loadavg()[0],
      ...(!isHoldingsOnly && { holders: await measureHolders(service, holders, isSmall ? 100 : 500) }),
      holdings: await measureHoldings(service, tokens, isSmall ? 10 : 60)
    }
    if (isSmall || isHoldingsOnly) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
    else await writeResult('holders', { bar: BAR, ...figures })
    const { holders: lists, holdings } = figures
    const measured = [lists?.asked_again, lists?.after_a_block, holdings.asked_again, holdings.anew]
    if (measured.some((each) => each !== undefined && each.p99_ratio > BAR)) process.exitCode = 1
  })
}

async function measureHolders({ app, node, get }: AccountService, count: number, rounds: number) {
  const list = await storeHolderList(app, node, count)
  const { holders } = app.storage
  const path = `/v1/tokens/${pubkeyToBase58(list.mint)}/holders?limit=${PAGE}`
  const bare = async (): Promise<void> => {
    const { rows } = await holders.page(list, 'owner-rank', { slot: 10, limit: PAGE })
    if (rows.length !== PAGE) throw new Error(`${rows.length} rows`)
  }
  return {
    count,
    page: PAGE,
    asked_again: reported('holders.asked_again', await compared(rounds, bare, async () => get(path))),
    after_a_block: reported(
      'holders.after_a_block',
      await compared(rounds, bare, async () => {
        app.nowMs += OWNERS_MS
        await get(path)
      })
    )
  }
}

async function measureHoldings({ app, node, get }: AccountService, count: number, rounds: number) {
  const wallet = numberedAddress(4, 0)
  const mints = Array.from({ length: count }, (_, n) => numberedAddress(5, n))
  node.put(wallet, { owner: numberedAddress(0, 0), data: new Uint8Array(), lamports: 5_000_000_000n })
  const accounts = mints.map((mint, n) => {
    node.put(mint, { owner: CLASSIC, data: mintData({ supply: 10n ** 12n, decimals: 6 }) })
    const data = tokenAccountData({ mint, owner: wallet, amount: BigInt(n + 1) * 1_000_000n })
    const rest = { lamports: 2_039_280n, executable: false, rentEpoch: 0n }
    return { address: numberedAddress(6, n), account: { owner: CLASSIC, data, ...rest } }
  })
  // The node answers from memory; it is not measured.
  node.tokenAccounts = async (_wallet, program) => ({
    slot: node.slot,
    accounts: program === CLASSIC ? accounts : []
  })
  await app.commit(block(19, NOON - 60, [solSale(150)]))
  for (let from = 0; from < count; from += MINTS_A_BLOCK) {
    const events = mints
      .slice(from, from + MINTS_A_BLOCK)
      .map((outMint, i) => buy(10n ** 9n, BigInt(from + i + 1) * 1_000_000n, { outMint, pool: outMint }))
    await app.commit(block(20 + from, NOON + from, events))
  }
  const { pairs, launches } = app.storage
  const bare = async (): Promise<void> => {
    for (let from = 0; from < count; from += PRICES_AT_ONCE)
      await Promise.all(mints.slice(from, from + PRICES_AT_ONCE).map((mint) => pairs.ofMint(mint)))
    await Promise.all(mints.slice(0, 50).map((mint) => launches.get(mint)))
  }
  const path = `/v1/wallets/${pubkeyToBase58(wallet)}/holdings`
  const ask = (): Promise<void> => get(path)
  return {
    token_accounts: count,
    asked_again: reported('holdings.asked_again', await compared(rounds, bare, ask)),
    anew: reported(
      'holdings.anew',
      await compared(rounds, bare, async () => {
        app.nowMs += ANSWER_MS
        await ask()
      })
    )
  }
}

/** Runs two operations alternately, after some uncounted rounds. */
async function compared(rounds: number, bare: () => Promise<void>, ours: () => Promise<void>) {
  const times = { bare: [] as number[], ours: [] as number[] }
  for (let n = 0; n < rounds * 1.2; n++) {
    const isCounted = n >= rounds * 0.2
    for (const [name, work] of [
      ['bare', bare],
      ['ours', ours]
    ] as const) {
      const start = performance.now()
      await work()
      if (isCounted) times[name].push(performance.now() - start)
    }
  }
  const [reads, requests] = [times.bare, times.ours].map((list) => list.sort((a, b) => a - b))
  const at = (list: readonly number[], share: number): number => list[Math.floor(list.length * share)]!
  return {
    rounds,
    p50_ms: { store: at(reads!, 0.5), request: at(requests!, 0.5) },
    p99_ms: { store: at(reads!, 0.99), request: at(requests!, 0.99) },
    p50_ratio: at(requests!, 0.5) / at(reads!, 0.5),
    p99_ratio: at(requests!, 0.99) / at(reads!, 0.99)
  }
}
