import { RpcAccountNode } from '../accounts/node-client.ts'
import { TransferFees } from '../accounts/transfer-fees.ts'
import type { Config } from '../kernel/config/config.ts'
import { systemPorts } from '../ports.ts'

/** Reads the transfer fees of an import that runs without a service. */
export class ImportTools {
  readonly transferFees: TransferFees | null
  readonly #node: RpcAccountNode | null

  constructor(config: Config) {
    const { clock } = systemPorts
    this.#node = config.rpcUrl.length === 0 ? null : new RpcAccountNode(() => config.rpcUrl, clock)
    this.transferFees = this.#node === null ? null : new TransferFees(clock)
    this.transferFees?.connect(this.#node)
  }

  async close(): Promise<void> {
    await this.#node?.close()
  }
}
