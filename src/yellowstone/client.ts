import type * as Package from '@triton-one/yellowstone-grpc'
import type * as Native from '@triton-one/yellowstone-grpc/napi'
import { PART_LENGTH_MIN, secretsMask } from '../kernel/config/url-mask.ts'
import type { Commitment } from '../market/rows.ts'
import { faultOf, StreamError } from './failure.ts'

/** An open subscription. */
export interface UpdateStream {
  /** Returns the bytes of the next message, or null at the end; rejects with StreamError. One call at a time. */
  read(): Promise<Uint8Array | null>
  /** Answers a ping; servers and load balancers drop clients that do not. */
  answerPing(): void
  /** Ends the subscription; a read in flight may never settle. */
  close(): void
}

/** Opens a subscription to whole blocks, from a slot on or from the newest one; rejects with StreamError. */
export type OpenStream = (fromSlot: number | null) => Promise<UpdateStream>

export interface ServerAddress {
  /** `http://` or `https://`, with host and port. */
  readonly url: string
  readonly token: string | undefined
  readonly commitment: Commitment
}

/** Maximum message size; the client rejects larger ones. A mainnet block has 3 to 10 MB. */
export const MESSAGE_BYTES_MAX = 128 * 2 ** 20
/**
 * Maximum number of bytes in flight before the server must wait, because a message is read only on demand. A window
 * of one or two blocks lets a distant server send at its full rate.
 */
const WINDOW_BYTES = 16 * 2 ** 20

const CHANNEL = {
  grpcConnectTimeout: 10_000,
  grpcMaxDecodingMessageSize: MESSAGE_BYTES_MAX,
  grpcInitialConnectionWindowSize: WINDOW_BYTES,
  grpcInitialStreamWindowSize: WINDOW_BYTES,
  // Detects a peer that vanished silently, so that its connection is closed.
  grpcHttp2KeepAliveInterval: 10_000,
  grpcKeepAliveTimeout: 10_000,
  grpcKeepAliveWhileIdle: true,
  grpcTcpNodelay: true
} as const

/** The exports of the client package that are used; tests replace them. */
export interface YellowstonePackage {
  readonly SubscribeRequest: typeof Package.SubscribeRequest
  readonly GrpcClient: typeof Native.GrpcClient
}

/** Loads the package on demand: it is native and optional, and not built for every platform. */
export async function loadYellowstone(): Promise<YellowstonePackage> {
  const { GrpcClient } = await import('@triton-one/yellowstone-grpc/napi')
  const { SubscribeRequest } = await import('@triton-one/yellowstone-grpc')
  return { GrpcClient, SubscribeRequest }
}

/**
 * Subscribes to blocks with transactions through the native client, below its decoded stream. A block arrives whole
 * in one message or not at all, and our reader parses the raw bytes. Each subscription has its own connection.
 *
 * The alternative is a subscription to transactions and block metas. That subscription omits votes at the server. But
 * each transaction is a message, which costs more than receiving the votes, and the completeness of a block cannot be
 * checked (loadtest/results/yellowstone.json).
 */
export function openStreams(
  { url, token, commitment }: ServerAddress,
  load: () => Promise<YellowstonePackage> = loadYellowstone
): OpenStream {
  const urls = URL.canParse(url) ? [url] : []
  const mask = secretsMask(urls, { partLengthMin: PART_LENGTH_MIN, words: [token ?? ''] })
  return async (fromSlot) => {
    const { GrpcClient, SubscribeRequest } = await load().catch((error: unknown) => {
      throw cannotLoad(error)
    })
    const encode = (request: Partial<Package.SubscribeRequest>): Buffer =>
      Buffer.from(SubscribeRequest.encode(SubscribeRequest.fromPartial(request)).finish())
    const request = encode({
      blocks: {
        blocks: {
          accountInclude: [],
          includeTransactions: true,
          includeAccounts: false,
          includeEntries: false
        }
      },
      commitment: COMMITMENT_LEVEL[commitment],
      fromSlot: fromSlot === null ? undefined : String(fromSlot)
    })
    const answer = encode({ ping: { id: 1 } })
    const failed = (error: unknown): never => {
      throw new StreamError(faultOf(error, mask), { cause: error })
    }
    const client = await GrpcClient.new(url, token, CHANNEL).catch(failed)
    const stream = await client.subscribe(request).catch(failed)
    return {
      read: async () => (await stream.read().catch(failed)) ?? null,
      // A lost answer shows in the server's next action.
      answerPing: () => void stream.writeRaw(answer).catch(() => undefined),
      close: () => stream.close()
    }
  }
}

/** geyser.CommitmentLevel */
const COMMITMENT_LEVEL = { processed: 0, confirmed: 1, finalized: 2 } as const

function cannotLoad(error: unknown): StreamError {
  const [line] = String(error instanceof Error ? error.message : error).split('\n')
  const where = `${process.platform} ${process.arch}`
  const reason = `cannot be used: the package @triton-one/yellowstone-grpc does not load on ${where} (${line})`
  return new StreamError({ remedy: 'never', reason }, { cause: error })
}
