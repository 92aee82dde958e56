import t from 'tap'
import type { ChainEvent, Trade } from '../../src/chain/events.ts'
import type { PoolRow } from '../../src/market/registry-rows.ts'
import { ingestAll } from './memory-store.ts'
import { block, buy, key, NOON, OPTIONS, OTHER, poolChange, sell, trade } from './world.ts'

const [BASE, QUOTE, ELSE] = [key(501), key(502), key(503)]

/** Returns the pools after blocks of one event each, and the blocks that changed them. */
function poolAfter(...events: ChainEvent[]): Pick<PoolRow, 'baseVault' | 'quoteVault'> {
  const { folds } = ingestAll(
    events.map((event, i) => block(300_000_001 + i, NOON + i, [event])),
    OPTIONS
  )
  const { baseVault, quoteVault } = folds.at(-1)!.pools[0]!
  return { baseVault, quoteVault }
}

const bought = (vaults: Trade['vaults']) => buy(10n ** 9n, 10n ** 6n, vaults && { vaults })
const sold = (vaults: Trade['vaults']) => sell(10n ** 6n, 10n ** 9n, vaults && { vaults })

t.test('a pool whose creation the index has not seen has the vaults of its first trade', async (t) => {
  const expected = { baseVault: BASE, quoteVault: QUOTE }
  t.strictSame(poolAfter(bought({ in: QUOTE, out: BASE })), expected)
  t.strictSame(poolAfter(sold({ in: BASE, out: QUOTE })), expected, 'by mint, not by direction')
  t.strictSame(
    poolAfter(bought(undefined), sold({ in: BASE, out: QUOTE })),
    expected,
    'the first that names them'
  )
  t.strictSame(
    poolAfter(sold({ in: BASE, out: null }), bought({ in: QUOTE, out: null })),
    expected,
    'one by one'
  )
  t.strictSame(poolAfter(bought({ in: QUOTE, out: BASE }), bought({ in: ELSE, out: ELSE })), expected, 'once')
})

t.test('a vault that an event states stands above those of trades', async (t) => {
  const stated = poolChange({ event: 'update', baseVault: BASE, quoteVault: null })
  const traded = bought({ in: QUOTE, out: ELSE })
  const expected = { baseVault: BASE, quoteVault: QUOTE }
  t.strictSame(poolAfter(stated, traded), expected)
  t.strictSame(poolAfter(traded, stated), expected)
})

t.test('a trade of other mints does not name the vaults of a pool', async (t) => {
  const other = trade({ inMint: OTHER, inDecimals: 6, vaults: { in: ELSE, out: ELSE } })
  t.strictSame(poolAfter(bought(undefined), other), { baseVault: null, quoteVault: null })
})
