import type { Instruction, TokenBalance, UnstatedSection } from '../chain/transaction.ts'
import { unstatedSections } from '../chain/unstated-sections.ts'
import { readInnerGroup } from './instruction.ts'
import { bytesField, MessageFault, varintField, type ProtobufReader } from './protobuf.ts'
import { readTokenBalance } from './token-balance.ts'

// solana.storage.ConfirmedBlock.TransactionStatusMeta
const ERR = bytesField(1)
const FEE = varintField(2)
const PRE_BALANCES = bytesField(3)
const POST_BALANCES = bytesField(4)
const INNER = bytesField(5)
const LOG = bytesField(6)
const PRE_TOKEN = bytesField(7)
const POST_TOKEN = bytesField(8)
const NO_INNER = varintField(10)
const NO_LOGS = varintField(11)
const LOADED_WRITABLE = bytesField(12)
const LOADED_READONLY = bytesField(13)

/** The runtime's report on a transaction. */
export interface TransactionMeta {
  readonly failed: boolean
  readonly feeLamports: bigint
  /** Inner instructions by index of their outer one; undefined if it has no inner instructions. */
  readonly inner: readonly (readonly Instruction[] | undefined)[]
  readonly nestingKnown: boolean
  readonly preBalances: readonly number[]
  readonly postBalances: readonly number[]
  readonly preTokenBalances: readonly TokenBalance[]
  readonly postTokenBalances: readonly TokenBalance[]
  readonly unstated: readonly UnstatedSection[] | undefined
  /** Offsets of the loaded keys, writable ones first. */
  readonly loaded: readonly number[]
  readonly loadedWritable: number
  /**
   * Reads the log lines on demand. Texts cost more than everything else, and most transactions are decoded without
   * them.
   */
  readonly readLogs: () => readonly string[] | null
}

/** Reads the meta that ends at `end`; throws MessageFault. */
export function readMeta(
  from: ProtobufReader,
  end: number,
  outerCount: number,
  keyCount: number
): TransactionMeta {
  let failed = false
  let feeLamports = 0n
  let hasNoInner = false
  let hasNoLogs = false
  let nestingKnown = true
  const inner: (readonly Instruction[] | undefined)[] = []
  const preBalances: number[] = []
  const postBalances: number[] = []
  const preTokenBalances: TokenBalance[] = []
  const postTokenBalances: TokenBalance[] = []
  const writable: number[] = []
  const readonly: number[] = []
  const logs: number[] = []
  while (from.at < end) {
    const tag = from.tag(end)
    switch (tag) {
      case LOG: {
        const stop = from.span(end, 'meta.logMessages')
        logs.push(from.at, stop)
        from.at = stop
        break
      }
      case INNER: {
        const group = readInnerGroup(from, from.span(end, 'meta.innerInstructions'), keyCount)
        const { outerIndex, instructions } = group
        if (outerIndex >= outerCount || inner[outerIndex] !== undefined) {
          throw new MessageFault('meta.innerInstructions.index')
        }
        inner[outerIndex] = instructions
        nestingKnown &&= instructions.every(({ height }) => height > 0)
        break
      }
      case PRE_TOKEN:
        readBalance(from, end, keyCount, preTokenBalances, 'meta.preTokenBalances')
        break
      case POST_TOKEN:
        readBalance(from, end, keyCount, postTokenBalances, 'meta.postTokenBalances')
        break
      case PRE_BALANCES:
        readLamports(from, end, preBalances, 'meta.preBalances')
        break
      case POST_BALANCES:
        readLamports(from, end, postBalances, 'meta.postBalances')
        break
      case ERR:
        failed = true
        from.at = from.span(end, 'meta.err')
        break
      case FEE:
        feeLamports = from.u64(end, 'meta.fee')
        break
      case NO_INNER:
        hasNoInner = from.flag(end, 'meta.innerInstructionsNone')
        break
      case NO_LOGS:
        hasNoLogs = from.flag(end, 'meta.logMessagesNone')
        break
      case LOADED_WRITABLE:
        writable.push(from.fixedBytes(end, 32, 'meta.loadedWritableAddresses'))
        break
      case LOADED_READONLY:
        readonly.push(from.fixedBytes(end, 32, 'meta.loadedReadonlyAddresses'))
        break
      default:
        from.skip(tag, end)
    }
  }
  if (hasNoInner && inner.length > 0) throw new MessageFault('meta.innerInstructionsNone')
  if (hasNoLogs && logs.length > 0) throw new MessageFault('meta.logMessagesNone')
  return {
    failed,
    feeLamports,
    inner,
    nestingKnown,
    preBalances,
    postBalances,
    preTokenBalances,
    postTokenBalances,
    unstated: unstatedSections({
      hasInner: !hasNoInner,
      // The message has no field that states their absence.
      hasTokenBalances: true,
      keyCount,
      preBalanceCount: preBalances.length,
      postBalanceCount: postBalances.length
    }),
    loaded: readonly.length === 0 ? writable : writable.concat(readonly),
    loadedWritable: writable.length,
    readLogs: () => (hasNoLogs ? null : textsAt(from, logs))
  }
}

function textsAt(from: ProtobufReader, spans: readonly number[]): readonly string[] {
  const texts: string[] = []
  for (let i = 0; i < spans.length; i += 2) texts.push(from.text(spans[i]!, spans[i + 1]!))
  return texts
}

function readBalance(
  from: ProtobufReader,
  end: number,
  keyCount: number,
  into: TokenBalance[],
  field: string
): void {
  const stop = from.span(end, field)
  into.push(readTokenBalance(from, stop, keyCount, field))
}

/** Reads packed numbers; a list may be split over several fields. */
function readLamports(from: ProtobufReader, end: number, into: number[], field: string): void {
  const stop = from.span(end, field)
  while (from.at < stop) into.push(from.rounded(stop, field))
}
