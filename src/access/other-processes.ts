/** The processes that share the store's keys and tenants. */
export interface OtherProcesses {
  /** Notifies them of a change made here. */
  publish(): void
}
