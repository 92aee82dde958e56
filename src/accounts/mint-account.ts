import type { Pubkey } from '../chain/pubkey.ts'
import { isRefused, keyOrNull, taggedKey } from './optional-key.ts'
import type { Account } from './ports.ts'
import { refused, type Refused } from './refused.ts'
import { readExtensions, valueOf, type TokenExtension } from './token-extensions.ts'
import { readTokenMetadata, type EmbeddedNames } from './token-metadata.ts'
import { tokenProgramOf, type TokenProgramName } from './token-program.ts'
import { readInterestBearing, readScaledUiAmount, type UiScale } from './ui-scale.ts'
import { readTransferFeeConfig, type TransferFeeConfig } from './transfer-fee.ts'

const MINT_BYTES = 82

/** A mint of either token program, as its account states it. */
export interface MintAccount {
  readonly kind: 'mint'
  readonly tokenProgram: TokenProgramName
  /** Base units. */
  readonly supply: bigint
  readonly decimals: number
  /** Each authority is null when revoked. */
  readonly mintAuthority: Pubkey | null
  readonly freezeAuthority: Pubkey | null
  /** Names of its extensions, in their order; empty in the classic program. */
  readonly extensions: readonly string[]
  readonly features: MintFeatures
}

/** Contents of a mint's extensions; null if the mint does not have the extension. */
export interface MintFeatures {
  readonly transferFee: TransferFeeConfig | null
  /** How displayed amounts are scaled. */
  readonly scale: UiScale | null
  /** The account that holds the names; `authority` may change it. */
  readonly metadataPointer: { readonly authority: Pubkey | null; readonly address: Pubkey | null } | null
  /** Names inside the mint. */
  readonly names: EmbeddedNames | null
  /** May move and burn the tokens of every account. */
  readonly permanentDelegate: Pubkey | null
  /** State of new accounts. */
  readonly defaultAccountState: 'initialized' | 'frozen' | null
  /** May close the mint once its supply is zero. */
  readonly closeAuthority: Pubkey | null
  readonly transferHook: { readonly authority: Pubkey | null; readonly program: Pubkey | null } | null
  /** Whether transfers, mints and burns are paused now. */
  readonly paused: boolean | null
}

const NO_FEATURES: MintFeatures = {
  transferFee: null,
  scale: null,
  metadataPointer: null,
  names: null,
  permanentDelegate: null,
  defaultAccountState: null,
  closeAuthority: null,
  transferHook: null,
  paused: null
}

/** Reads a mint. Refuses an account of another program or kind, an uninitialized one, and broken extensions. */
export function readMintAccount({ owner, data }: Pick<Account, 'owner' | 'data'>): MintAccount | Refused {
  const tokenProgram = tokenProgramOf(owner)
  if (tokenProgram === null) return refused('is owned by another program')
  if (data.length < MINT_BYTES || (tokenProgram === 'spl-token' && data.length !== MINT_BYTES))
    return refused('is not a mint')
  const extensions = readExtensions(data, MINT_BYTES, 'mint')
  if (isRefused(extensions)) return extensions
  if (data[45] !== 1) return refused('is not an initialized mint')
  const mintAuthority = taggedKey(data, 0)
  const freezeAuthority = taggedKey(data, 46)
  if (isRefused(mintAuthority)) return mintAuthority
  if (isRefused(freezeAuthority)) return freezeAuthority
  const features = extensions.length === 0 ? NO_FEATURES : readFeatures(extensions)
  if (isRefused(features)) return features
  return {
    kind: 'mint',
    tokenProgram,
    supply: new DataView(data.buffer, data.byteOffset).getBigUint64(36, true),
    decimals: data[44]!,
    mintAuthority,
    freezeAuthority,
    extensions: extensions.map(({ name }) => name),
    features
  }
}

function readFeatures(extensions: readonly TokenExtension[]): MintFeatures | Refused {
  const read = <T>(name: string, of: (value: Uint8Array) => T): T | null => {
    const value = valueOf(extensions, name)
    return value === null ? null : of(value)
  }
  const names = read('token_metadata', readTokenMetadata)
  if (isRefused(names)) return names
  const state = read('default_account_state', (value) => value[0]!)
  if (state !== null && state !== 1 && state !== 2) return refused(`has default account state ${state}`)
  return {
    transferFee: read('transfer_fee_config', readTransferFeeConfig),
    scale:
      read<UiScale>('interest_bearing_config', readInterestBearing) ??
      read('scaled_ui_amount_config', readScaledUiAmount),
    metadataPointer: read('metadata_pointer', (value) => ({
      authority: keyOrNull(value, 0),
      address: keyOrNull(value, 32)
    })),
    names,
    permanentDelegate: read('permanent_delegate', (value) => keyOrNull(value, 0)),
    defaultAccountState: state === null ? null : state === 2 ? 'frozen' : 'initialized',
    closeAuthority: read('mint_close_authority', (value) => keyOrNull(value, 0)),
    transferHook: read('transfer_hook', (value) => ({
      authority: keyOrNull(value, 0),
      program: keyOrNull(value, 32)
    })),
    paused: read('pausable_config', (value) => value[32] === 1)
  }
}
