/** Encrypts text for one purpose with the service's key, so that the store never has it in clear. */
export interface TextSeal {
  /** Returns base64. */
  sealText(purpose: string, text: string): string
  /** Throws SERVICE_FAILED for text that was sealed with another key or for another purpose. */
  openText(purpose: string, sealed: string): string
}

/** Returns text unchanged: for a caller whose requests are not stored. */
export const NO_SEAL: TextSeal = {
  sealText: (_purpose, text) => text,
  openText: (_purpose, sealed) => sealed
}
