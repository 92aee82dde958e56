import { TransferFees } from '../accounts/transfer-fees.ts'
import { pubkeyFromBase58 } from '../chain/pubkey.ts'
import { CashList } from '../market/cash.ts'
import { CommittedBlocks, type BlockObserver } from './committed-blocks.ts'
import { RecordedReport } from '../recorded/report.ts'
import { PriorityFees } from '../transactions/priority-fees.ts'
import { capability } from '../kernel/compose/product.ts'

/** Mints that count as dollars, and SOL. */
export const CASH = capability(({ config }) => new CashList(config.usdMints.map(pubkeyFromBase58)))

/** Blocks that this process commits, for those that read more of them than rows. */
export const COMMITTED_BLOCKS = capability(({ feed }) => new CommittedBlocks(feed))

/** Declares an observer of the blocks that this process commits, and of the feed. */
export const blockObserver = <T extends BlockObserver>(open: () => T) =>
  capability(({ get }) => {
    const observer = open()
    get(COMMITTED_BLOCKS).subscribe(observer)
    return observer
  })

/** Priority fees of the newest blocks. */
export const FEES = blockObserver(() => new PriorityFees())

/** Transfer fees of mints, for the decoder. */
export const TRANSFER_FEES = capability(({ ports }) => new TransferFees(ports.clock))

/** The state of the recorded folder that this process reads. */
export const RECORDED = capability(() => new RecordedReport())

/** The kind of source that this process reads; null if it reads none. */
export const SOURCE_KIND = capability(({ config }) => (config.role.includes('ingest') ? config.source : null))

/** The localnet of this process. */
interface StartedLocalnet {
  /** Null before it listens. */
  url: string | null
  /** The slot at which the past ends that it generates; null if none of it is missing. */
  pastEnd: number | null
}

export const LOCALNET = capability((): StartedLocalnet => ({ url: null, pastEnd: null }))

/** The status of a live source of blocks, and the slot at which the past of a localnet ends. */
export const START = capability(({ sourceStatus: source, get }) => {
  const localnet = get(LOCALNET)
  return { source, pastEnd: () => localnet.pastEnd }
})
