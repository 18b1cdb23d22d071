// Keys by which a request that is repeated takes effect once.

// Not crypto.randomUUID: browsers have that only where the server speaks TLS, or is on the same machine.
export function onceKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
