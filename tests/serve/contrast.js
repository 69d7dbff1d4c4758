// Texts whose contrast with what is behind them is below 4.5, as WCAG AA asks for.
(() => {
  const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = numbers(colour).map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const seen = (colour) => colour !== "none" && (numbers(colour)[3] ?? 1) > 0;
  const behind = (part) => {
    const rect = part.closest("g.node")?.querySelector("rect");
    if (rect && rect.getAttribute("opacity") !== "0" && seen(getComputedStyle(rect).fill)) return getComputedStyle(rect).fill;
    for (let at = part; at; at = at.parentElement) {
      if (seen(getComputedStyle(at).backgroundColor)) return getComputedStyle(at).backgroundColor;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [];
  for (const part of document.querySelectorAll("body *")) {
    const own = [...part.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !part.getClientRects().length || part.closest("title, .skip, .knot")) continue;
    const colour = part instanceof SVGElement ? getComputedStyle(part).fill : getComputedStyle(part).color;
    const [light, dark] = [luminance(colour), luminance(behind(part))].sort((a, b) => b - a);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < 4.5) found.push(`${part.textContent.slice(0, 30)}: ${contrast.toFixed(2)}`);
  }
  return found;
})()
