import { samePubkey, type Pubkey } from '../chain/pubkey.ts'
import type { Known } from './reading-cache.ts'
import type { ChainClock } from './clock.ts'
import { metaplexAddress, readMetaplex } from './metaplex.ts'
import { readMintAccount, type MintAccount } from './mint-account.ts'
import { isRefused } from './optional-key.ts'
import type { Account } from './ports.ts'
import { refused, type Refused } from './refused.ts'
import type { EmbeddedNames, TokenNames } from './token-metadata.ts'
import type { TransferFee } from '../chain/transfer-fee.ts'
import { transferFeeAt } from './transfer-fee.ts'

/** Facts of a mint, as chain accounts state them. */
export interface MintFacts {
  readonly kind: 'facts'
  readonly mint: Pubkey
  readonly account: MintAccount
  /** Names from the mint itself, or from its Metaplex metadata account; null if neither has names. */
  readonly names: TokenNames | null
  readonly namesFrom: 'token-2022' | 'metaplex' | null
  /** The transfer fee in force at the slot; null if the mint has no fee, or if the epoch of the slot is unknown. */
  readonly transferFee: TransferFee | null
  /** The chain's time at the reading, in Unix seconds; null if it was not read, because no fact depends on it. */
  readonly chainSeconds: number | null
}

/** The outcome of reading a mint: its facts, or why the address is not a mint. */
export type MintReading = MintFacts | Refused

/** A reading with its slot and time. */
export type KnownMint = Known<MintReading>

/** Accounts that a mint is read from; null for one that does not exist. */
export interface MintSources {
  readonly account: Account | null
  readonly metaplex: Account | null
  /** The account that its metadata pointer names, if that is neither the mint nor the Metaplex account. */
  readonly pointed: Account | null
  /** The clock of the slot; null if unknown. */
  readonly clock: ChainClock | null
}

/**
 * Returns the address of a mint's metadata if that is neither the mint nor the usual Metaplex account; null
 * otherwise.
 */
export function distantMetadata(mint: Pubkey, { features }: MintAccount): Pubkey | null {
  const address = features.metadataPointer?.address ?? null
  if (address === null || samePubkey(address, mint) || samePubkey(address, metaplexAddress(mint))) return null
  return address
}

/** Tells whether a fact depends on the clock: the transfer fee in force, or the scale of displayed amounts. */
export const needsClock = (account: MintAccount): boolean =>
  account.features.scale !== null || needsEpoch(account)

/** Tells whether the transfer fee in force depends on the epoch. */
function needsEpoch({ features: { transferFee } }: MintAccount): boolean {
  if (transferFee === null) return false
  const { older, newer } = transferFee
  return older.basisPoints !== newer.basisPoints || older.maximum !== newer.maximum
}

/** Returns the facts of a mint from its accounts, or why the address is not a mint. */
export function mintFacts(mint: Pubkey, sources: MintSources): MintReading {
  if (sources.account === null) return refused('does not exist')
  const account = readMintAccount(sources.account)
  if (isRefused(account)) return account
  return {
    kind: 'facts',
    mint,
    account,
    ...namesOf(mint, account, sources),
    transferFee: feeOf(account, sources.clock?.epoch ?? null),
    chainSeconds: sources.clock?.seconds ?? null
  }
}

function feeOf(account: MintAccount, epoch: bigint | null): TransferFee | null {
  const config = account.features.transferFee
  if (config === null) return null
  if (!needsEpoch(account)) return config.newer
  return epoch === null ? null : transferFeeAt(config, epoch)
}

/**
 * Selects the names: those at the metadata pointer's address. If there is no pointer, the names inside the mint take
 * precedence over those of Metaplex.
 */
function namesOf(
  mint: Pubkey,
  { features }: MintAccount,
  { metaplex, pointed }: MintSources
): Pick<MintFacts, 'names' | 'namesFrom'> {
  const inside = namedBy(features.names, mint, 'token-2022')
  const beside = namedBy(namesIn(metaplex), mint, 'metaplex')
  const address = features.metadataPointer?.address ?? null
  if (address === null) return inside ?? beside ?? NAMELESS
  if (samePubkey(address, mint)) return inside ?? NAMELESS
  if (samePubkey(address, metaplexAddress(mint))) return beside ?? NAMELESS
  return (
    namedBy(namesIn(pointed), mint, 'metaplex') ??
    namedBy(namesInside(pointed), mint, 'token-2022') ??
    NAMELESS
  )
}

const NAMELESS = { names: null, namesFrom: null } as const

function namesIn(account: Account | null): EmbeddedNames | null {
  const names = account === null ? null : readMetaplex(account)
  return names === null || isRefused(names) ? null : names
}

/** Returns the names inside another mint of Token-2022: an account that only holds metadata may be one. */
function namesInside(account: Account | null): EmbeddedNames | null {
  const mint = account === null ? null : readMintAccount(account)
  return mint === null || isRefused(mint) ? null : mint.features.names
}

/** Returns names only if they state that they belong to the mint: anybody may point to a known token's metadata. */
function namedBy(
  names: EmbeddedNames | null,
  mint: Pubkey,
  namesFrom: 'token-2022' | 'metaplex'
): Pick<MintFacts, 'names' | 'namesFrom'> | null {
  return names !== null && samePubkey(names.mint, mint) ? { names, namesFrom } : null
}
