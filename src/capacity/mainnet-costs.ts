import { coefficient } from './coefficients.ts'
import type { FleetCosts } from './fleet-costs.ts'

const MILLI = 1e3
const MICRO = 1e6

/** Costs of a fleet that reads mainnet from a gRPC stream. */
export const MAINNET_COSTS: FleetCosts = {
  idle: {
    ingest: coefficient('idleIngestCores'),
    delivery: coefficient('idleDeliveryCores'),
    gateway: coefficient('idleGatewayCores')
  },
  ingestTrade: (coefficient('ingestMs') + coefficient('yellowstoneMs')) / MILLI,
  followTrade: {
    delivery: coefficient('followDeliveryMicros') / MICRO,
    gateway: coefficient('followGatewayMicros') / MICRO
  },
  sendEvent: coefficient('sharedEventMicros') / MICRO,
  acceptTransaction: coefficient('acceptMicros') / MICRO,
  sendTransaction: coefficient('trackMicros') / MICRO,
  cqlTrade: coefficient('cqlTradeMicros') / MICRO,
  cqlTransaction: coefficient('cqlTransactionMicros') / MICRO
}
