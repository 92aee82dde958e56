/** A WebSocket that is closed after its handshake: a browser reports one that is closed before as an error. */
export class PatientSocket extends WebSocket {
  override close(code?: number, reason?: string): void {
    if (this.readyState === WebSocket.CONNECTING)
      this.addEventListener('open', () => super.close(code, reason))
    else super.close(code, reason)
  }
}
