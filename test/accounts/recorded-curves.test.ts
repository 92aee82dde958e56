import t from 'tap'
import { pubkeyFromBase58 } from '../../src/chain/pubkey.ts'
import { testWithFixtures } from '../fixtures.ts'
import { key } from './account-data.ts'
import { pool, read, recorded, sides, SOL, stated } from './recorded-pool.ts'

testWithFixtures(t, 'recorded curves state reserves, progress and target', async (t) => {
  const pump = recorded('pumpfun')
  t.match(pool(read('pumpfun', pump.get('bonding_curve_124')!)), {
    sides: [
      { mint: null, reserve: 765_730_912_722_553n },
      { mint: pubkeyFromBase58(SOL), reserve: 735_966_700n }
    ],
    curve: {
      status: 'bonding',
      reserves: { virtualBase: 1_045_630_912_722_553n, virtualQuote: 36_966_559_351n }
    }
  })
  const old = pool(read('pumpfun', pump.get('bonding_curve_49')!)).curve!
  t.same(old.reserves, {
    virtualBase: 1_070_419_577_927_421n,
    virtualQuote: 30_072_319_932n,
    realBase: 790_519_577_927_421n,
    realQuote: 72_319_932n
  })
  t.equal(old.progressPct, 100 * ((793_100_000_000_000 - 790_519_577_927_421) / 793.1e12), 'the part sold')
  t.equal(old.targetQuote, 85_005_359_057n, 'what the start states, whatever trades rounded')
  const paired = new Uint8Array(166)
  paired.set(pump.get('bonding_curve_124')!.data)
  new DataView(paired.buffer).setBigUint64(142, 9_749_855_000n, true)
  const { owner } = pump.get('bonding_curve_124')!
  const { curve: later } = pool(read('pumpfun', stated(owner, paired)))
  t.equal(later!.targetQuote, 27_626_330_835n, 'of the virtual quote at the start that the account states')

  const lab = recorded('raydium-launchlab')
  const config = new Uint8Array(371)
  config.set(Uint8Array.fromHex('95089ccaa0fcb0d9'))
  const known = { '6s1xP3hpbAfFoNtUNF8mfHsjr2Bd97JxFJRWLbL6aHuX': stated(key(4), config) }
  const active = lab.get('pool_state_active')!
  const product = pool(read('raydium-launchlab', active, known))
  t.same(sides(product), [
    [
      'Fgn8d55VioHKamwE8YaAK1s1p7afrSt6dX19nqzebonk',
      'Ls7DDkc42aSXh2MrESi5nPFDEaH5JzWfbSWB1HhTrVG',
      793_100_000_000_000n - 259_894_238_085_922n
    ],
    [SOL, 'DPpZv7VqYHMro3PzefgUVxtUdNbzUCFPVUPQ4375DtYH', 9_588_916_655n]
  ])
  t.match(product.curve, {
    status: 'bonding',
    reserves: { virtualBase: 813_131_367_510_460n, virtualQuote: 39_589_769_606n },
    targetQuote: 85_000_000_000n
  })
  t.ok(Math.abs(product.curve!.progressPct! - 32.7694) < 1e-4)
  config[16] = 1
  t.notOk('virtualBase' in pool(read('raydium-launchlab', active, known)).curve!.reserves, 'of a fixed price')
  const over = pool(read('raydium-launchlab', lab.get('pool_state_migrated')!, known))
  t.match(over, {
    curve: { status: 'graduated', progressPct: 100 },
    sides: [{ reserve: null }, { reserve: null }]
  })

  const dbc = recorded('meteora-dbc')
  const curve = dbc.get('fee_in_both_pool')!
  t.same(read('meteora-dbc', curve).unread, ['CbfpuGYivK1o8rCpKf536ebipFipRTyk71sGCCXaBeEc'])
  const both = pool(
    read('meteora-dbc', curve, {
      CbfpuGYivK1o8rCpKf536ebipFipRTyk71sGCCXaBeEc: dbc.get('fee_in_both_config')!
    })
  )
  t.same(sides(both), [
    [
      'QS4QLW6vZWMmQE3j3LAnGfCZbXWbVfDuVDeVfgT2dzM',
      'EJbyuuy3n3bsuCcYMDFpZusYPygH37czkXTtz4fsUnyS',
      722_427_194_010_288n
    ],
    [SOL, '9ahwHkK8L3otSSMpz2q2rNhbhRPiqaGGJqFiKyF3eN4X', 11_725_382_491n]
  ])
  t.match(both.curve, { status: 'bonding', targetQuote: 100_000_000_000n })
  t.ok(Math.abs(both.curve!.progressPct! - 11.725382491) < 1e-9)
  t.equal(both.curve!.sqrtPrice, 139_394_230_708_914_577n)
  const quoted = pool(
    read('meteora-dbc', dbc.get('fee_in_quote_pool')!, {
      '7UMR4yEaVYsQGbQGvxNUypFmPn15GkzVmwUEpUFJUPPX': dbc.get('fee_in_quote_config')!
    })
  )
  t.match(quoted.curve, { targetQuote: 87_945_796_097n, reserves: { realQuote: 7_018_473_489n } })
})

testWithFixtures(
  t,
  'the formula of a Moonshot curve gives the lamports that the recorded account holds',
  async (t) => {
    const { state } = read('moonshot', recorded('moonshot').get('curve')!)
    // It has 601,049,596 lamports, and (128 + 409) × 6,960 of them keep it exempt from rent.
    t.match(state, {
      sides: [{ reserve: 979_053_197_346_106_125n }, { reserve: 601_049_596n - 537n * 6_960n }],
      curve: { status: 'bonding', progressPct: null, targetQuote: null }
    })
  }
)
