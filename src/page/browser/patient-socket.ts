/**
 * Time in milliseconds in which a handshake may end before it is aborted. A browser opens one socket to a host at a time: while
 * the handshake of an abandoned socket hangs, the next socket waits.
 */
const HANDSHAKE_MS = 5_000

/**
 * A WebSocket that is closed after its handshake, because a browser reports a socket that is closed before as an error. A
 * handshake that hangs is aborted.
 */
export class PatientSocket extends WebSocket {
  override close(code?: number, reason?: string): void {
    if (this.readyState !== WebSocket.CONNECTING) return super.close(code, reason)
    const timer = setTimeout(() => super.close(code, reason), HANDSHAKE_MS)
    this.addEventListener('open', () => {
      clearTimeout(timer)
      super.close(code, reason)
    })
    this.addEventListener('close', () => clearTimeout(timer))
  }
}
