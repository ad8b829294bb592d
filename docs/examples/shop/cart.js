const show = (cart) => (document.getElementById("total").textContent = cart.total.toFixed(2));
const ask = async () => (await fetch("/api/cart")).json();
ask().catch(() => ({})).then(show);
