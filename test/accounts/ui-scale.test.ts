import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readMintAccount } from '../../src/accounts/mint-account.ts'
import { isRefused } from '../../src/accounts/optional-key.ts'
import { TOKEN_PROGRAM_KEYS } from '../../src/accounts/token-program.ts'
import { multiplierAt, uiAmount, type UiScale } from '../../src/accounts/ui-scale.ts'
import { humanAmount } from '../../src/market/amount.ts'
import { extended, mintData } from './account-data.ts'

/** Amounts of a mint as Agave 4.2.1 displayed them: base units, Unix seconds of its clock, and its `uiAmountString`. */
interface Displayed {
  readonly decimals: number
  readonly extension: number
  /** Hexadecimal. */
  readonly value: string
  readonly amounts: readonly (readonly [raw: string, at: string, text: string])[]
}

const RECORDED = JSON.parse(
  readFileSync(join(import.meta.dirname, 'ui-amounts.json'), 'utf8')
) as readonly Displayed[]

function scaleOf({ decimals, extension, value }: Displayed): UiScale {
  const data = extended(mintData({ supply: 1n, decimals }), 'mint', [[extension, Uint8Array.fromHex(value)]])
  const mint = readMintAccount({ owner: TOKEN_PROGRAM_KEYS['token-2022'], data })
  if (isRefused(mint)) throw new Error(mint.reason)
  return mint.features.scale!
}

t.test('amounts of mints with a multiplier or interest are those that a node displays', async (t) => {
  for (const recorded of RECORDED) {
    const scale = scaleOf(recorded)
    const { decimals, amounts } = recorded
    for (const [raw, at, text] of amounts)
      t.equal(
        uiAmount(BigInt(raw), { decimals, scale }, Number(at)),
        Number(text),
        `${raw} with ${decimals} decimals and ${scale.kind}`
      )
  }
})

t.test('a multiplier changes at its time, and interest compounds from its start', async (t) => {
  const scale: UiScale = { kind: 'multiplier', current: 2, next: 3.5, nextAt: 1_000 }
  t.strictSame(
    [999, 1_000].map((at) => multiplierAt(scale, at)),
    [2, 3.5]
  )
  const half = {
    kind: 'interest',
    initializedAt: 0,
    averageRateBps: 500,
    updatedAt: 31_556_736,
    rateBps: -500
  } as const
  t.equal(multiplierAt(half, 31_556_736), Math.exp(0.05))
  t.ok(Math.abs(multiplierAt(half, 2 * 31_556_736) - 1) < 1e-12, 'a negative rate takes it back')
})

t.test('amounts of other mints have the decimals applied', async (t) => {
  t.equal(uiAmount(123n, { decimals: 2, scale: null }, 0), humanAmount(123n, 2))
})
