import type { AccountNode } from '../../src/accounts/ports.ts'
import type { ChainWatch } from '../../src/program-accounts/chain-watch.ts'
import type { PendingLimits } from '../../src/program-accounts/pending-updates.ts'
import type { SubscribeProgram } from '../../src/program-accounts/ports.ts'
import type { SupersededLimits } from '../../src/program-accounts/superseded-versions.ts'
import type { Ports } from '../../src/ports.ts'
import type { MirrorMetrics } from '../../src/program-accounts/metrics.ts'
import type { ProgramAccountStore } from '../../storage/port.ts'

/** Size of a mirrored program. */
export interface MirrorLimits {
  readonly accountsMax: number
  /** Bytes of data of all accounts. */
  readonly dataBytesMax: number
}

export interface ProgramMirrorDeps extends Ports {
  readonly node: Pick<AccountNode, 'accounts' | 'programAccounts'>
  readonly subscribe: SubscribeProgram
  readonly watch: Pick<ChainWatch, 'subscribe'>
  readonly store: ProgramAccountStore
  readonly metrics: MirrorMetrics
  readonly logger: { info(text: string): void; warn(text: string): void }
  /** Slots from the newest block of the index to the newest confirmed one: 0 if the index has confirmed blocks. */
  readonly slotsUnconfirmed: number
  readonly auditMs?: number
  readonly settleMs?: number
  readonly superseded?: SupersededLimits
  readonly pending?: PendingLimits
  readonly limits?: MirrorLimits
  /** Unix milliseconds before which no index of stored accounts is built: another process may still write without it. */
  readonly buildFromMs?: number
  /** Versions of one step of building an index. */
  readonly indexStep?: number
}
