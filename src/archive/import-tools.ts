import type { IngesterDeps } from '../../actors/ingest/ingester.ts'
import { NO_UNDO } from '../../actors/ingest/undo-history.ts'
import { RpcAccountNode } from '../accounts/node-client.ts'
import { TransferFees } from '../accounts/transfer-fees.ts'
import { pubkeyFromBase58 } from '../chain/pubkey.ts'
import type { Config } from '../kernel/config/config.ts'
import { memoryBudget } from '../kernel/config/memory-budget.ts'
import { CashList } from '../market/cash.ts'
import { systemPorts } from '../ports.ts'
import { Registry } from 'prom-client'
import { ingestMetrics } from '../ingest/metrics.ts'
import { DecodingReport } from '../ingest/decoding-report.ts'
import { createLogger } from '../kernel/telemetry/logger.ts'
import { CommitFeed } from '../kernel/feed/commit-feed.ts'

/** The resources of an ingester that imports an archive without a service. */
export class ImportTools {
  readonly feed = new CommitFeed()
  readonly deps: IngesterDeps
  readonly #node: RpcAccountNode | null

  /** `mask` hides secrets in the lines of its log. */
  constructor(config: Config, mask: (text: string) => string) {
    const { clock } = systemPorts
    const decoding = new DecodingReport()
    const transferFees = new TransferFees(clock)
    this.#node = config.rpcUrl.length === 0 ? null : new RpcAccountNode(() => config.rpcUrl, clock)
    transferFees.connect(this.#node)
    const cash = new CashList(config.usdMints.map(pubkeyFromBase58))
    this.deps = {
      // MILLRACE_SOL_USD is a current price; only the chain has the past ones.
      fold: { cash, startingSolUsd: null, venues: new Set(config.venues) },
      undoPolicy: NO_UNDO,
      feed: this.feed,
      decoding,
      metrics: ingestMetrics(new Registry()),
      // The command prints the progress itself.
      logger: createLogger({ ...config, logLevel: 'warn' }, mask),
      clock,
      marketBytes: memoryBudget({ ...config, role: ['ingest'] }).market,
      ...(this.#node !== null && { transferFees })
    }
  }

  async close(): Promise<void> {
    await this.#node?.close()
  }
}
