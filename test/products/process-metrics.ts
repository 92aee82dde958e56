import { LoopHold } from '../../src/kernel/work/loop-hold.ts'
import { Capabilities } from '../../src/kernel/compose/capability.ts'
import type { Kernel } from '../../src/kernel/compose/product.ts'
import { createMetrics } from '../../src/kernel/telemetry/metrics.ts'
import { DecodingReport } from '../../src/ingest/decoding-report.ts'
import { MIRROR_METRICS } from '../../src/program-accounts/capabilities.ts'
import { PRODUCTS } from './loaded-products.ts'

/** Returns the metrics of a process: those of the kernel, and the groups of all products. */
export function processMetrics(decoding = new DecodingReport()) {
  const capabilities = new Capabilities<Kernel>()
  const metrics = createMetrics()
  const kernel = {
    metrics,
    decoding,
    config: { dataDir: '.' },
    turns: { usedMs: new Map(), waitingOf: () => 0, hold: new LoopHold() },
    sourceStatus: () => null,
    get: (capability: Parameters<Kernel['get']>[0]) => capabilities.get(capability, kernel)
  } as unknown as Kernel
  for (const { metrics: groups = [] } of PRODUCTS) for (const group of groups) kernel.get(group)
  return { ...metrics, mirror: kernel.get(MIRROR_METRICS) }
}
