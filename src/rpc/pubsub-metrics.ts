import { Counter, type Registry } from 'prom-client'

/** Metrics of the subscriptions of the RPC URL. */
export interface PubsubMetrics {
  readonly notifications: Counter<'what'>
  readonly losses: Counter
  readonly strays: Counter
  readonly closed: Counter<'code'>
}

export function pubsubMetrics(registry: Registry): PubsubMetrics {
  const registers = [registry]
  return {
    notifications: new Counter({
      name: 'millrace_rpc_notifications_total',
      help: 'Notifications of RPC subscriptions: sent to clients; dropped as stale or repeated; read after a loss',
      labelNames: ['what'],
      registers
    }),
    losses: new Counter({
      name: 'millrace_rpc_subscription_losses_total',
      help: 'Connections for subscriptions that nodes have ended or that failed',
      registers
    }),
    strays: new Counter({
      name: 'millrace_rpc_strays_total',
      help: 'Messages from nodes for unknown subscriptions or requests',
      registers
    }),
    closed: new Counter({
      name: 'millrace_rpc_sockets_closed_total',
      help: 'RPC sockets that the service has closed, by close code',
      labelNames: ['code'],
      registers
    })
  }
}
