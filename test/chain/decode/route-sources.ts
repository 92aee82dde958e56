import {
  beside,
  decimals,
  hop,
  jupiterStatement,
  networkFee,
  rawAmount,
  routeSide,
  routeSideInUnits,
  SOL,
  statedFields,
  trader,
  venueFee,
  eventField,
  type Expectation
} from './expectation.ts'
import { feeWords } from './jupiter-statements.ts'

// Readers of sources that state swaps: hops, routes, and a wallet's sent and received amounts.

const DLMM = 'LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo'
const PUMP = '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P'
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'

/** Mints by the names that sources use for them. */
const MINTS: Readonly<Record<string, string>> = {
  'globals.WSOL': SOL,
  A_SOL: SOL,
  A_WSOL: SOL,
  SOL,
  USDC,
  COCO: '74DSHnK1qqr4z1pXjLjPAVi8XFngZ635jEVpdkJtnizQ',
  weWETH: '7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs'
}

function mintOf(name: string): string {
  return MINTS[name] ?? name.replace(/^.*token:/, '')
}

type Fields = Readonly<Record<string, string>>

interface NamedEvent {
  readonly name: string
  readonly data: Fields
}

/** ryoid/anchores and the snapshots of jup-ag/instruction-parser: events by name. */
function readNamedEvent({ name, data }: NamedEvent): Expectation[] {
  if (name === 'ParsedFeeEvent') return [jupiterStatement(feeWords(data.account!, data.mint!, data.amount!))]
  if (name === 'SwapInstruction') return [statedFields(DLMM, 'instruction', data)]
  if (data.lbPair !== undefined) {
    return [
      statedFields(DLMM, 'event', data),
      eventField(
        'pool of the event',
        data.lbPair,
        ({ trades }) =>
          trades.find((trade) => trade.venue === 'meteora-dlmm' && String(trade.inAmount) === data.amountIn)
            ?.pool
      ),
      eventField(
        'amount out of the event',
        data.amountOut,
        ({ trades }) => trades.find((trade) => trade.venue === 'meteora-dlmm')?.outAmount
      )
    ]
  }
  return [
    hop({
      program: data.amm!,
      inMint: data.inputMint!,
      inAmount: data.inputAmount!,
      outMint: data.outputMint!,
      outAmount: data.outputAmount!
    })
  ]
}

interface RouteSummary {
  readonly owner: string
  readonly inMint: string
  readonly inAmount: string | number
  readonly outMint: string
  readonly outAmount: string | number
  readonly feeTokenPubkey?: string
  readonly feeMint?: string
  readonly feeAmount?: string
  readonly swapData: readonly {
    readonly inMint: string
    readonly inAmount: string
    readonly outMint: string
    readonly outAmount: string
  }[]
}

/** The result files of jup-ag/instruction-parser and serejke/solana-jupiter-swap-parser. */
function readSummary(summary: RouteSummary): Expectation[] {
  const fee =
    summary.feeTokenPubkey === undefined
      ? []
      : [jupiterStatement(feeWords(summary.feeTokenPubkey, summary.feeMint!, summary.feeAmount!))]
  return [
    trader(summary.owner),
    routeSide('in', summary.inMint, String(summary.inAmount)),
    routeSide('out', summary.outMint, String(summary.outAmount)),
    ...summary.swapData.map((swap) => hop(swap)),
    ...fee
  ]
}

function isSummary(value: NamedEvent | RouteSummary): value is RouteSummary {
  return 'swapData' in value
}

export function readJupiter(value: NamedEvent | RouteSummary): Expectation[] {
  return isSummary(value) ? readSummary(value) : readNamedEvent(value)
}

/** 0xjeffro/tx-parser: one action; on the Pump.fun curve with the amounts at the curve's price, else the trader's. */
export function readAction(action: Fields): Expectation[] {
  if (action.InstructionName === 'Create') return readCreateAction(action)
  const fromMint = mintOf(action.FromToken!)
  const toMint = mintOf(action.ToToken!)
  const reading = /^(pumpfun|photon)/.test(action.ProgramID!) ? 'fill' : 'trader'
  const found = [
    routeSide('in', fromMint, action.FromTokenAmount!, reading),
    routeSide('out', toMint, action.ToTokenAmount!, reading)
  ]
  if (action.Who !== undefined) found.push(trader(action.Who))
  for (const [mint, stated] of [
    [fromMint, action.FromTokenDecimals],
    [toMint, action.ToTokenDecimals]
  ] as const) {
    if (stated !== undefined)
      found.push(decimals(mint, stated === 'uint64(globals.SOLDecimals)' ? 9 : stated))
  }
  const fee = action.FeeAmount ?? action.PumpfunFeeAmount
  if (fee !== undefined) found.push(venueFee('protocol', fee))
  if (action.PhotonFeeAmount !== undefined) found.push(beside(`Photon fee ${action.PhotonFeeAmount}`))
  if (action.MaxSolCost !== undefined) {
    found.push(statedFields(PUMP, 'instruction', { max_sol_cost: action.MaxSolCost }))
  }
  if (action.MinimumAmountOut !== undefined) {
    const program = '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8'
    found.push(statedFields(program, 'instruction', { minimum_amount_out: action.MinimumAmountOut }))
  }
  return found
}

const CREATE_FIELDS = {
  Who: 'user',
  Mint: 'baseMint',
  BondingCurve: 'curve',
  Name: 'name',
  Symbol: 'symbol',
  Uri: 'uri'
} as const

function readCreateAction(action: Fields): Expectation[] {
  return Object.entries(CREATE_FIELDS).map(([stated, field]) =>
    eventField(`launch ${field}`, action[stated], ({ events }) => {
      const launch = events.find((event) => event.kind === 'launch')
      return launch?.[field]
    })
  )
}

/** hodgerpodger/staketaxcsv: a wallet's sent and received amounts, with the network's fee if stated. */
export function readTaxRow(row: Fields): Expectation[] {
  const found = [
    routeSideInUnits('in', mintOf(row.sent_currency!), row.sent_amount!),
    routeSideInUnits('out', mintOf(row.received_currency!), row.received_amount!)
  ]
  if (row.fee !== undefined) found.push(networkFee(rawAmount(row.fee, 9)))
  return found
}

/** rotki/rotki: a wallet's events; the first fee in SOL is the network's. */
export function readWalletEvent(event: Fields): Expectation[] {
  const mint = mintOf(event.asset!)
  if (event.class === 'swap' && event.event_subtype === 'SPEND')
    return [routeSideInUnits('in', mint, event.amount!)]
  if (event.class === 'swap' && event.event_subtype === 'RECEIVE')
    return [routeSideInUnits('out', mint, event.amount!)]
  if (event.asset === 'A_SOL') return [networkFee(rawAmount(event.amount!, 9))]
  const what = `${event.event_type} ${event.event_subtype} ${event.amount} ${event.asset}`
  return [beside(what)]
}

interface WalletAsset {
  readonly amount: string
  readonly type: string
}

interface WalletTransaction {
  readonly from: readonly { readonly address: string; readonly asset: WalletAsset }[]
  readonly to: readonly { readonly address: string; readonly asset: WalletAsset }[]
  readonly fees: readonly { readonly asset: WalletAsset }[]
}

/** MetaMask/snap-solana-wallet: a wallet's sent and received amounts, and the network's fee in parts. */
export function readWalletTransaction({ from, to, fees }: WalletTransaction): Expectation[] {
  const isSol = ({ type }: WalletAsset): boolean => type.endsWith('slip44:501')
  const fee = fees.reduce((sum, { asset }) => sum + rawAmount(asset.amount, 9), 0n)
  return [
    ...from.map(({ asset }) =>
      isSol(asset)
        ? beside(`SOL spent ${asset.amount}`)
        : routeSideInUnits('in', mintOf(asset.type), asset.amount)
    ),
    ...to.map(({ asset }) => routeSideInUnits('out', mintOf(asset.type), asset.amount)),
    ...[...new Set([...from, ...to].map(({ address }) => address))].map(trader),
    networkFee(fee)
  ]
}
