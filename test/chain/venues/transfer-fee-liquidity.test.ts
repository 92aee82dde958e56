import t from 'tap'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import type { AccountPositions, InstructionLayout } from '../../../src/chain/layout.ts'
import { TOKEN_2022_PROGRAM } from '../../../src/chain/token-movement.ts'
import { VENUES } from '../../../src/chain/venues.ts'
import type { Venue } from '../../../src/chain/venue.ts'
import { lifinity } from '../../../src/chain/venues/lifinity.ts'
import { meteoraDammV1 } from '../../../src/chain/venues/meteora-damm-v1.ts'
import * as dammV1 from '../../../src/chain/venues/meteora-damm-v1-layouts.ts'
import { meteoraDammV2 } from '../../../src/chain/venues/meteora-damm-v2.ts'
import * as dammV2Events from '../../../src/chain/venues/meteora-damm-v2-events.ts'
import * as dammV2 from '../../../src/chain/venues/meteora-damm-v2-instructions.ts'
import { meteoraDlmm } from '../../../src/chain/venues/meteora-dlmm.ts'
import * as dlmmEvents from '../../../src/chain/venues/meteora-dlmm-events.ts'
import * as dlmm from '../../../src/chain/venues/meteora-dlmm-instructions.ts'
import * as orcaEvents from '../../../src/chain/venues/orca-whirlpool-events.ts'
import * as orca from '../../../src/chain/venues/orca-whirlpool-instructions.ts'
import { orcaWhirlpool } from '../../../src/chain/venues/orca-whirlpool.ts'
import { pumpswap } from '../../../src/chain/venues/pumpswap.ts'
import * as pumpEvents from '../../../src/chain/venues/pumpswap-events.ts'
import * as pump from '../../../src/chain/venues/pumpswap-instructions.ts'
import { raydiumAmmV4 } from '../../../src/chain/venues/raydium-amm-v4.ts'
import { raydiumClmm } from '../../../src/chain/venues/raydium-clmm.ts'
import * as clmmEvents from '../../../src/chain/venues/raydium-clmm-events.ts'
import * as clmm from '../../../src/chain/venues/raydium-clmm-instructions.ts'
import { raydiumCpmm } from '../../../src/chain/venues/raydium-cpmm.ts'
import * as cpmm from '../../../src/chain/venues/raydium-cpmm-layouts.ts'
import { raydiumStable } from '../../../src/chain/venues/raydium-stable.ts'
import {
  buildTransaction,
  checkedTransfer,
  keyOf,
  tokenTransfer,
  type BalanceSpec,
  type CallSpec
} from '../build-transaction.ts'
import { selfCall, zeros } from './meteora-calls.ts'

/**
 * Liquidity of a mint with a transfer fee: 100 units leave one account and 98 reach the other. On the way in the vault is
 * credited 98, on the way out it gives 100. The second token has no fee, and 40 of it move.
 */
const [GROSS, NET, FEE, PLAIN] = [100n, 98n, 2n, 40n]

/** Names of the accounts of every venue. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  pool: ['pool', 'poolState', 'lbPair', 'whirlpool', 'amm'],
  position: ['position', 'personalPosition'],
  user: ['user', 'owner', 'sender', 'positionAuthority', 'userTransferAuthority'],
  'vault 0': ['tokenVault0', 'token0Vault', 'reserveX', 'aTokenVault', 'tokenAVault', 'tokenVaultA'],
  'vault 1': ['tokenVault1', 'token1Vault', 'reserveY', 'bTokenVault', 'tokenBVault', 'tokenVaultB'],
  'mint 0': ['tokenXMint', 'tokenAMint', 'tokenMintA', 'baseMint', 'tokenMint'],
  'mint 1': ['tokenYMint', 'tokenBMint', 'tokenMintB', 'quoteMint'],
  'user 0': ['userToken']
}
const MORE_NAMES: Readonly<Record<string, string>> = {
  coinVault: 'vault 0',
  pcVault: 'vault 1',
  baseVault: 'vault 0',
  quoteVault: 'vault 1',
  tokenA: 'vault 0',
  tokenB: 'vault 1',
  reserve: 'vault 0'
}
const nameOf = (position: string): string =>
  MORE_NAMES[position] ?? Object.keys(NAMES).find((name) => NAMES[name]!.includes(position)) ?? position

function accountsOf(layout: InstructionLayout, count: number): string[] {
  const positions: AccountPositions = layout.accounts(count)!
  const list = Array.from({ length: count }, (_, position) => `filler ${position}`)
  for (const [name, position] of Object.entries(positions)) list[position] = nameOf(name)
  return list
}

type Change = 'add' | 'remove'

/** A call of a venue that adds or removes liquidity, with the event that it states. */
interface Case {
  readonly name: string
  readonly venue: Venue
  readonly event: Change
  readonly layout: InstructionLayout
  readonly accounts: number
  readonly data: Uint8Array
  readonly stated?: Uint8Array
  readonly logged?: Uint8Array
}

const namedLayout = (venue: Venue, name: string): InstructionLayout =>
  venue.instructions.entries.find((layout) => layout.name === name)!

function plainCases(venue: Venue, add: string, remove: string, accounts: readonly [number, number]): Case[] {
  const [added, removed] = [namedLayout(venue, add), namedLayout(venue, remove)]
  return [
    { name: add, venue, event: 'add', layout: added, accounts: accounts[0], data: zeros(added) },
    { name: remove, venue, event: 'remove', layout: removed, accounts: accounts[1], data: zeros(removed) }
  ]
}

const dlmmChange = {
  lbPair: keyOf('pool'),
  from: keyOf('user'),
  position: keyOf('position'),
  activeBinId: 1
}
const dammChange = {
  pool: keyOf('pool'),
  position: keyOf('position'),
  owner: keyOf('user'),
  reserveAAmount: 0n,
  reserveBAmount: 0n,
  liquidityDelta: 5n,
  tokenAAmountThreshold: 0n,
  tokenBAmountThreshold: 0n
}
const dammParams = { liquidityDelta: 5n, tokenAAmountThreshold: 0n, tokenBAmountThreshold: 0n }
const clmmPosition = { positionNftMint: keyOf('nft'), liquidity: 5n }
const orcaChange = {
  whirlpool: keyOf('pool'),
  position: keyOf('position'),
  tickLowerIndex: -1,
  tickUpperIndex: 1,
  liquidity: 5n,
  tokenBAmount: PLAIN,
  tokenATransferFee: FEE,
  tokenBTransferFee: 0n
}
const cpmmChange = {
  poolId: keyOf('pool'),
  lpAmountBefore: 1n,
  token0VaultBefore: 1n,
  token1VaultBefore: 1n,
  // In both directions it states the credited amounts.
  token0Amount: NET,
  token1Amount: PLAIN,
  token0TransferFee: FEE,
  token1TransferFee: 0n
}
const pumpChange = {
  timestamp: 1n,
  userBaseTokenReserves: 0n,
  userQuoteTokenReserves: 0n,
  poolBaseTokenReserves: 0n,
  poolQuoteTokenReserves: 0n,
  lpMintSupply: 1n,
  pool: keyOf('pool'),
  user: keyOf('user'),
  userBaseTokenAccount: keyOf('user 0'),
  userQuoteTokenAccount: keyOf('user 1'),
  userPoolTokenAccount: keyOf('user lp')
}

const [dlmmRemove] = dlmm.REMOVES
const [dlmmAdd] = dlmm.ADDS
const [dammRemove] = dammV2.REMOVES

const CASES: readonly Case[] = [
  ...plainCases(raydiumAmmV4, 'deposit', 'withdraw', [14, 20]),
  ...plainCases(raydiumStable, 'deposit', 'withdraw', [20, 20]),
  ...plainCases(lifinity, 'depositAllTokenTypes', 'withdrawAllTokenTypes', [10, 10]),
  ...plainCases(meteoraDammV1, dammV1.ADDS[0].name, dammV1.REMOVES[0].name, [16, 16]),
  {
    name: 'deposit',
    venue: raydiumCpmm,
    event: 'add',
    layout: cpmm.deposit,
    accounts: 13,
    data: zeros(cpmm.deposit),
    logged: cpmm.lpChangeEvent.write({ ...cpmmChange, changeType: 0 })
  },
  {
    name: 'withdraw',
    venue: raydiumCpmm,
    event: 'remove',
    layout: cpmm.withdraw,
    accounts: 14,
    data: zeros(cpmm.withdraw),
    logged: cpmm.lpChangeEvent.write({ ...cpmmChange, changeType: 1 })
  },
  {
    name: 'increaseLiquidityV2',
    venue: raydiumClmm,
    event: 'add',
    layout: clmm.increaseLiquidityV2,
    accounts: 15,
    data: zeros(clmm.increaseLiquidityV2),
    logged: clmmEvents.increaseLiquidityEvent.write({
      ...clmmPosition,
      amount0: NET,
      amount1: PLAIN,
      amount0TransferFee: FEE,
      amount1TransferFee: 0n
    })
  },
  {
    name: 'decreaseLiquidityV2',
    venue: raydiumClmm,
    event: 'remove',
    layout: clmm.decreaseLiquidityV2,
    accounts: 16,
    data: zeros(clmm.decreaseLiquidityV2),
    logged: clmmEvents.decreaseLiquidityEvent.write({
      ...clmmPosition,
      decreaseAmount0: GROSS,
      decreaseAmount1: PLAIN,
      feeAmount0: 0n,
      feeAmount1: 0n,
      rewardAmounts: [0n, 0n, 0n],
      transferFee0: FEE,
      transferFee1: 0n
    })
  },
  {
    name: 'increaseLiquidityV2',
    venue: orcaWhirlpool,
    event: 'add',
    layout: orca.increaseLiquidityV2,
    accounts: 15,
    data: zeros(orca.increaseLiquidityV2),
    logged: orcaEvents.liquidityIncreased.write({ ...orcaChange, tokenAAmount: GROSS })
  },
  {
    name: 'decreaseLiquidityV2',
    venue: orcaWhirlpool,
    event: 'remove',
    layout: orca.decreaseLiquidityV2,
    accounts: 15,
    data: zeros(orca.decreaseLiquidityV2),
    logged: orcaEvents.liquidityDecreased.write({ ...orcaChange, tokenAAmount: GROSS })
  },
  {
    name: 'add_liquidity, which states what left its sender',
    venue: meteoraDlmm,
    event: 'add',
    layout: dlmmAdd,
    accounts: 16,
    data: dlmmAdd.write({ liquidityParameter: { amountX: 0n, amountY: 0n, binLiquidityDist: [] } }),
    stated: dlmmEvents.addLiquidityEvent.write({ ...dlmmChange, amounts: [GROSS, PLAIN] })
  },
  {
    name: 'remove_liquidity, which states what left the vaults',
    venue: meteoraDlmm,
    event: 'remove',
    layout: dlmmRemove,
    accounts: 16,
    data: dlmmRemove.write({ binLiquidityRemoval: [] }),
    stated: dlmmEvents.removeLiquidityEvent.write({ ...dlmmChange, amounts: [GROSS, PLAIN] })
  },
  {
    name: 'add_liquidity with EvtLiquidityChange',
    venue: meteoraDammV2,
    event: 'add',
    layout: dammV2.addLiquidity,
    accounts: 14,
    data: dammV2.addLiquidity.write(dammParams),
    stated: dammV2Events.liquidityChangeEvent.write({
      ...dammChange,
      tokenAAmount: NET,
      tokenBAmount: PLAIN,
      transferFeeIncludedTokenAAmount: GROSS,
      transferFeeIncludedTokenBAmount: PLAIN,
      changeType: 0
    })
  },
  {
    name: 'remove_liquidity with EvtLiquidityChange, whose first amounts are what its owner was credited',
    venue: meteoraDammV2,
    event: 'remove',
    layout: dammRemove,
    accounts: 15,
    data: zeros(dammRemove, 32),
    stated: dammV2Events.liquidityChangeEvent.write({
      ...dammChange,
      tokenAAmount: NET,
      tokenBAmount: PLAIN,
      transferFeeIncludedTokenAAmount: GROSS,
      transferFeeIncludedTokenBAmount: PLAIN,
      changeType: 1
    })
  },
  {
    name: 'add_liquidity with EvtAddLiquidity',
    venue: meteoraDammV2,
    event: 'add',
    layout: dammV2.addLiquidity,
    accounts: 14,
    data: dammV2.addLiquidity.write(dammParams),
    stated: dammV2Events.addLiquidityEvent.write({
      ...dammChange,
      params: dammParams,
      tokenAAmount: NET,
      tokenBAmount: PLAIN,
      totalAmountA: GROSS,
      totalAmountB: PLAIN
    })
  },
  {
    name: 'remove_liquidity with EvtRemoveLiquidity, which states what left the vaults',
    venue: meteoraDammV2,
    event: 'remove',
    layout: dammRemove,
    accounts: 15,
    data: zeros(dammRemove, 32),
    stated: dammV2Events.removeLiquidityEvent.write({
      ...dammChange,
      params: dammParams,
      tokenAAmount: GROSS,
      tokenBAmount: PLAIN
    })
  },
  {
    name: 'deposit',
    venue: pumpswap,
    event: 'add',
    layout: pump.deposit,
    accounts: 15,
    data: zeros(pump.deposit),
    stated: pumpEvents.depositEvent.write({
      ...pumpChange,
      lpTokenAmountOut: 7n,
      maxBaseAmountIn: 0n,
      maxQuoteAmountIn: 0n,
      baseAmountIn: GROSS,
      quoteAmountIn: PLAIN
    })
  },
  {
    name: 'withdraw',
    venue: pumpswap,
    event: 'remove',
    layout: pump.withdraw,
    accounts: 15,
    data: zeros(pump.withdraw),
    stated: pumpEvents.withdrawEvent.write({
      ...pumpChange,
      lpTokenAmountIn: 7n,
      minBaseAmountOut: 0n,
      minQuoteAmountOut: 0n,
      baseAmountOut: GROSS,
      quoteAmountOut: PLAIN
    })
  }
]

/** Where the transaction shows the transfer fee: in the instruction, in the receiver's balances, or nowhere. */
type FeeShown = 'stated' | 'in balances' | 'nowhere'

function transfers(event: Change, shown: FeeShown): CallSpec[] {
  const more = shown === 'stated' ? { fee: FEE } : { program: TOKEN_2022_PROGRAM }
  return event === 'add'
    ? [
        checkedTransfer('user 0', 'mint 0', 'vault 0', 'user', GROSS, 6, more),
        tokenTransfer('user 1', 'vault 1', 'user', PLAIN)
      ]
    : [
        checkedTransfer('vault 0', 'mint 0', 'user 0', 'authority', GROSS, 6, more),
        tokenTransfer('vault 1', 'user 1', 'authority', PLAIN)
      ]
}

function balances(event: Change, shown: FeeShown): BalanceSpec[] {
  const of = (account: string, mint: string, more: Partial<BalanceSpec> = {}): BalanceSpec => ({
    account,
    mint,
    owner: account.startsWith('user') ? 'user' : 'authority',
    decimals: 6,
    ...more
  })
  const credited = shown === 'in balances' ? { before: 5n, after: 5n + NET } : {}
  return event === 'add'
    ? [of('vault 0', 'mint 0', credited), of('vault 1', 'mint 1'), of('user 1', 'mint 1')]
    : [of('vault 0', 'mint 0'), of('vault 1', 'mint 1'), of('user 0', 'mint 0', credited)]
}

function decode({ venue, event, layout, accounts, data, stated, logged }: Case, shown: FeeShown) {
  const program = venue.programs[0]!
  return decodeTransaction(
    buildTransaction({
      signers: ['user'],
      calls: [
        {
          program,
          accounts: accountsOf(layout, accounts),
          data,
          inner: [...transfers(event, shown), ...(stated === undefined ? [] : [selfCall(program, stated)])],
          logged: logged === undefined ? [] : [logged]
        }
      ],
      balances: balances(event, shown)
    })
  )
}

const expected = (event: Change) =>
  event === 'add'
    ? { baseAmount: NET, traderBase: GROSS, quoteAmount: PLAIN, traderQuote: PLAIN }
    : { baseAmount: GROSS, traderBase: NET, quoteAmount: PLAIN, traderQuote: PLAIN }

for (const each of CASES) {
  t.test(`${each.venue.id} ${each.name}: the vault's side, with the provider's beside it`, async (t) => {
    for (const shown of ['stated', 'in balances'] as const) {
      const { events, notes } = decode(each, shown)
      t.strictSame(notes, [], `the fee explains the difference, ${shown}`)
      t.match(events, [{ kind: 'liquidity', event: each.event, ...expected(each.event) }], shown)
    }
  })

  t.test(`${each.venue.id} ${each.name}: a fee that nothing shows gives no false amount`, async (t) => {
    const { events, notes } = decode(each, 'nowhere')
    const [change] = events
    if (change?.kind !== 'liquidity') {
      t.match(notes, [{ kind: 'missing', reason: 'transfer-fee-unknown' }])
      return
    }
    const { baseAmount, traderBase } = expected(each.event)
    t.equal(change.baseAmount, baseAmount)
    t.ok(change.traderBase === null || change.traderBase === traderBase)
  })
}

t.test('every venue that has liquidity events is among the cases, in both directions', async (t) => {
  const without = ['meteora-dbc', 'moonshot', 'phoenix', 'pumpfun', 'raydium-launchlab']
  for (const event of ['add', 'remove'] as const) {
    const covered = new Set(CASES.filter((each) => each.event === event).map(({ venue }) => venue.id))
    const left = VENUES.map(({ id }) => id).filter((id) => !covered.has(id))
    t.strictSame(left.toSorted(), without, event)
  }
})
