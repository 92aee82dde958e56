import { metricGroup } from '../kernel/compose/product.ts'
import { mirrorMetrics } from './metrics.ts'

/** Metrics of the mirror, and of reads from it. */
export const MIRROR_METRICS = metricGroup(mirrorMetrics)
