import type { Storage } from '../../storage/port.ts'
import type { WorkCount } from '../access/work-meter.ts'
import { pubkeyFromBase58, type Pubkey } from '../chain/pubkey.ts'
import {
  AccountRows,
  BASE58_BYTES_MAX,
  TooLongForBase58,
  type AccountEncoding,
  type RowText
} from '../program-accounts/account-rows.ts'
import { exactSlotUpTo } from '../program-accounts/exact-slots.ts'
import {
  MirrorReader,
  type MirrorRead,
  type SelectedBy,
  type TakeAccounts
} from '../program-accounts/mirror-reader.ts'
import type { MirrorProgress } from '../program-accounts/program.ts'
import { atOnce, type RunPiece } from '../kernel/work/turns.ts'
import { OnlyNodeParses, ParsedTokenAccounts, parserOf } from './parsed-token-accounts.ts'
import {
  invalidParams,
  readProgramAccountsRequest,
  type MirroredCommitment,
  type RpcAccountEncoding
} from './program-accounts-request.ts'
import { ANSWER_BYTES_MAX, ANSWER_TOO_LARGE, NO_NODE, upstreamDown, type Refusal } from './rpc-error.ts'

/**
 * The accounts of a program: the bytes of the result's JSON text with its slot, a refusal, or a request that only a node
 * answers.
 */
export type MirroredAnswer =
  | { readonly result: readonly Buffer[]; readonly slot: number }
  | { readonly refusal: Refusal }
  | { readonly isForNode: true }

/** Maximum account versions that one request examines: up to some seconds of CPU time. Larger reads can page over REST. */
const EXAMINED_TOTAL_MAX = 2_000_000

/** The nodes of the process, as the mirror's readers use them. */
export interface FinalizedSlots {
  /** Returns the newest slot that is known to be finalized; null before the first. */
  newest(): number | null
}

/** Answers getProgramAccounts from the mirror, at one slot. */
export class MirroredAccounts {
  readonly #mirror: MirrorReader
  readonly #finalized: FinalizedSlots | null

  /**
   * @param count Called for each read of the mirror.
   * @param finalized Null in a process without a node, which cannot answer for accounts that are not mirrored yet.
   */
  constructor(
    storage: Pick<Storage, 'documents' | 'programAccounts' | 'isShared'>,
    count: (selectedBy: SelectedBy) => void,
    finalized: FinalizedSlots | null
  ) {
    this.#finalized = finalized
    this.#mirror = new MirrorReader(storage, count)
  }

  /** Rejects only with a store error or the signal's reason. */
  async answer(
    params: unknown,
    signal: AbortSignal,
    runPiece: RunPiece = atOnce,
    work?: WorkCount
  ): Promise<MirroredAnswer> {
    const [program, config] = Array.isArray(params) ? (params as unknown[]) : []
    if (typeof program !== 'string') return invalidParams('invalid length 0, expected a program address')
    const address = addressOf(program)
    if (address === null) return invalidParams('Invalid param: Invalid')
    const request = readProgramAccountsRequest(config)
    if ('refusal' in request) return request
    const status = await this.#mirror.status(address)
    if (status === null) return NOT_WHITELISTED(program)
    const { progress } = status
    if (progress.slot === null) return this.#finalized === null ? { refusal: NO_NODE } : NOT_READ_YET
    const slot = this.#slotAt(request.commitment, progress)
    if (slot === null) return NOT_FINALIZED_YET
    if (slot < request.minContextSlot) return minContextSlotNotReached(slot)
    const parser = request.encoding === 'jsonParsed' ? parserOf(address) : 'nobody'
    if (parser === 'a node') return { isForNode: true }
    const { encoding, slice, filters } = request
    const form = { encoding: storedEncoding(encoding), slice }
    const rows = new AccountRows(form, rowText(program, encoding, parser === 'this service'))
    const readMints = (mints: readonly Pubkey[]) => this.#mirror.at(address, status, slot, mints, work)
    const parsed = parser === 'this service' ? new ParsedTokenAccounts(address, readMints) : null
    const query = { slot, limit: Infinity, examined: EXAMINED_TOTAL_MAX, filters }
    const take: TakeAccounts = async (accounts) => {
      if (parsed === null) await rows.add(accounts)
      else rows.addTexts(accounts, await parsed.texts(accounts))
      return rows.bytes <= ANSWER_BYTES_MAX
    }
    let end: MirrorRead
    try {
      end = await this.#mirror.read(address, status, query, take, { runPiece, signal, work })
    } catch (error) {
      if (error instanceof TooLongForBase58) return TOO_LONG_FOR_BASE58
      if (error instanceof OnlyNodeParses) return { isForNode: true }
      throw error
    }
    // Old versions may have been dropped during the read.
    if (end.now?.progress.slot == null || slot < end.now.progress.oldestSlot)
      return { refusal: upstreamDown('the accounts of this program changed during the request; retry') }
    if (end.next !== null || rows.bytes > ANSWER_BYTES_MAX) return { refusal: ANSWER_TOO_LARGE }
    const [open, close] = request.withContext
      ? [`{"context":${contextText(slot, progress.apiVersion)},"value":[`, ']}']
      : ['[', ']']
    return { result: [Buffer.from(open), ...rows.pieces, Buffer.from(close)], slot }
  }

  /** Returns the slot whose state answers a request; null while the mirror has no finalized state. */
  #slotAt(commitment: MirroredCommitment, progress: MirrorProgress): number | null {
    if (commitment === 'confirmed') return progress.slot
    const finalized = this.#finalized?.newest() ?? null
    return finalized === null ? null : exactSlotUpTo(progress, finalized)
  }
}

/** Parsed accounts of programs that nodes do not parse are in base64, and texts without an encoding in base58. */
function storedEncoding(encoding: RpcAccountEncoding): AccountEncoding {
  if (encoding === 'jsonParsed') return 'base64'
  return encoding === 'binary' ? 'base58' : encoding
}

const contextText = (slot: number, apiVersion: string | undefined): string =>
  JSON.stringify({ ...(apiVersion !== undefined && { apiVersion }), slot })

/** Lamports and the epoch are whole numbers beyond 2^53, so they are written as text. */
function rowText(program: string, encoding: RpcAccountEncoding, isParsed: boolean): RowText {
  const before = isParsed ? '' : encoding === 'binary' ? '"' : '["'
  const after = isParsed ? '' : encoding === 'binary' ? '"' : `","${storedEncoding(encoding)}"]`
  return (address, { lamports, executable, rentEpoch, data: { length } }, data) =>
    `{"account":{"data":${before}${data}${after},"executable":${executable},"lamports":${lamports},"owner":"${program}","rentEpoch":${rentEpoch},"space":${length}},"pubkey":"${address}"}`
}

function addressOf(base58: string): Uint8Array | null {
  try {
    return pubkeyFromBase58(base58)
  } catch {
    return null
  }
}

const minContextSlotNotReached = (contextSlot: number): MirroredAnswer => ({
  refusal: {
    status: 200,
    error: {
      code: -32016,
      message: 'Minimum context slot has not been reached',
      data: { contextSlot }
    }
  }
})

const NOT_READ_YET: MirroredAnswer = {
  refusal: upstreamDown('the accounts of this program are still being read')
}

const NOT_FINALIZED_YET: MirroredAnswer = {
  refusal: upstreamDown(
    'the accounts of this program are not mirrored at finalized yet; retry within 20 s, or request them at confirmed'
  )
}

const NOT_WHITELISTED = (program: string): MirroredAnswer => ({
  refusal: {
    status: 403,
    error: {
      code: -32010,
      message: `${program} excluded from account secondary indexes; this RPC method unavailable for key`,
      data: { program, see: '/v1/programs/{programId}/accounts' }
    }
  }
})

const TOO_LONG_FOR_BASE58: MirroredAnswer = {
  refusal: {
    status: 200,
    error: {
      code: -32600,
      message: `Encoded binary (base 58) data should be less than ${BASE58_BYTES_MAX} bytes, please use Base64 encoding.`
    }
  }
}
